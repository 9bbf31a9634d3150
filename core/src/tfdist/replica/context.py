"""The replica context: what user code sees as ``tf.distribute.get_replica_context()``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import tensorflow as tf

from tfdist.errors import ContextError, ValueMismatchError
from tfdist.replica.reduce_ops import as_reduce_op
from tfdist.tf_internals import contexts


class Meeting(Protocol):
    """How a replica meets the others: the part of a runner that a context talks to."""

    def merge(self, fn: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Waits for all replicas, runs ``fn`` once across them, returns this replica's share."""


class ReplicaContext(tf.distribute.ReplicaContext):
    """The context of one replica.

    Args:
        strategy: The strategy it belongs to.
        replica_id_in_sync_group: Number of the replica among all that train together.
        meeting: How it meets the other replicas; None where there are none.
    """

    def __init__(
        self,
        strategy: tf.distribute.Strategy,
        replica_id_in_sync_group: int | tf.Tensor,
        meeting: Meeting | None = None,
    ) -> None:
        super().__init__(strategy, replica_id_in_sync_group)
        self._meeting = meeting

    @property
    def devices(self) -> tuple[str, ...]:
        """The device of this replica, as a tuple of one canonical name."""
        return (self._strategy.extended.worker_devices[self._replica_id],)

    def _merge_call(self, fn: Callable[..., Any], args: Sequence[Any], kwargs: Any) -> Any:
        if self._meeting is not None:
            return self._meeting.merge(fn, args, dict(kwargs or {}))
        with contexts.cross_replica_mode(self._strategy):
            return fn(self._strategy, *args, **(kwargs or {}))

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """Reduces a value over all replicas and gives the result to each.

        Args:
            reduce_op: ``tf.distribute.ReduceOp.SUM`` or ``MEAN``, or their names.
            value: A nested structure of tensors or ``tf.IndexedSlices``; the same structure, shapes
                and dtypes on every replica.
            options: ``tf.distribute.experimental.CommunicationOptions``; None for the defaults.

        Returns:
            The structure of reduced values. Dense tensors are differentiable: the gradient is
            all-reduced with the same operation.

        Raises:
            ContextError: Called outside the replica context, or where replicas cannot meet.
            OptionError: The reduction is not known.

        Cost: one all-reduce of the value's bytes. Runs on: every replica.
        """
        reduce_op = as_reduce_op(reduce_op)
        flat = [_as_value(v) for v in tf.nest.flatten(value)]
        if self.num_replicas_in_sync == 1:
            return tf.nest.pack_sequence_as(value, [_identity(v) for v in flat])
        if any(isinstance(v, tf.IndexedSlices) for v in flat):
            result = self._reduce_flat(reduce_op, flat, options)
        else:
            result = self._differentiable_reduce(reduce_op, flat, options)
        return tf.nest.pack_sequence_as(value, result)

    def _reduce_flat(self, reduce_op: Any, flat: Sequence[Any], options: Any) -> list[Any]:
        return self._strategy.extended._replica_ctx_all_reduce(reduce_op, list(flat), options)

    def _differentiable_reduce(self, reduce_op: Any, flat: Sequence[Any], options: Any) -> Any:
        @tf.custom_gradient
        def reduce(*tensors: tf.Tensor) -> tuple[Any, Callable[..., Any]]:
            reduced = self._reduce_flat(reduce_op, tensors, options)
            return reduced, lambda *grads: self.all_reduce(reduce_op, list(grads), options)

        return tf.nest.flatten(reduce(*flat))

    def all_gather(self, value: Any, axis: int, options: Any = None) -> Any:
        """Concatenates a value of all replicas along an axis and gives the result to each.

        Args:
            value: A nested structure of dense tensors, of equal rank and dtype on every replica;
                sizes may differ along ``axis`` only.
            axis: The axis to concatenate along, ``0 <= axis < rank``.
            options: ``tf.distribute.experimental.CommunicationOptions``; None for the defaults.

        Returns:
            The structure of gathered tensors, in the order of the replica ids; differentiable.

        Raises:
            ValueMismatchError: A leaf is ``tf.IndexedSlices``.

        Cost: one all-gather of the value's bytes. Runs on: every replica.
        """
        flat = tf.nest.flatten(value)
        if any(isinstance(v, tf.IndexedSlices) for v in flat):
            raise _SparseGatherError(
                "Cannot all-gather tf.IndexedSlices: all_gather does not support IndexedSlices. "
                "Dense tensors were expected. Gather its `values` and `indices`, or convert it "
                "with tf.convert_to_tensor()."
            )
        flat = [tf.convert_to_tensor(v) for v in flat]
        if self.num_replicas_in_sync == 1:
            return tf.nest.pack_sequence_as(value, [tf.identity(v) for v in flat])

        def gather_all(strategy: Any, *values: Any) -> Any:
            return strategy.extended._batch_gather_to([(v, v) for v in values], axis, options)

        @tf.custom_gradient
        def gather(*tensors: tf.Tensor) -> tuple[Any, Callable[..., Any]]:
            gathered = self.merge_call(gather_all, args=tensors)
            return gathered, lambda *grads: self._gather_gradient(tensors, grads, axis)

        return tf.nest.pack_sequence_as(value, tf.nest.flatten(gather(*flat)))

    def _gather_gradient(
        self, inputs: Sequence[tf.Tensor], grads: Sequence[tf.Tensor], axis: int
    ) -> list[tf.Tensor]:
        summed = self.all_reduce(tf.distribute.ReduceOp.SUM, list(grads))
        sizes = self.all_gather([tf.shape(x)[axis : axis + 1] for x in inputs], 0)
        replica_id = self.replica_id_in_sync_group
        return [
            tf.gather(
                grad,
                tf.range(tf.reduce_sum(s[:replica_id]), tf.reduce_sum(s[: replica_id + 1])),
                axis=axis,
            )
            for grad, s in zip(summed, sizes, strict=True)
        ]

    def _update(
        self, var: Any, fn: Any, args: Any = (), kwargs: Any = None, group: bool = True
    ) -> Any:
        return self._strategy.extended._replica_ctx_update(var, fn, args, kwargs or {}, group)


class _SparseGatherError(ValueMismatchError, NotImplementedError):
    """Also what TensorFlow raises there."""


def require_replica_context(what: str) -> tf.distribute.ReplicaContext:
    """The current replica context, or a ContextError that says what needed one."""
    context = tf.distribute.get_replica_context()
    if context is None:
        raise ContextError(
            f"Cannot {what} here. A replica context was expected and this is the cross-replica "
            "context. Move the call into the function that is passed to strategy.run()."
        )
    return context


def _as_value(value: Any) -> Any:
    return value if isinstance(value, tf.IndexedSlices) else tf.convert_to_tensor(value)


def _identity(value: Any) -> Any:
    return value if isinstance(value, tf.IndexedSlices) else tf.identity(value)
