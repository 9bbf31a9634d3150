"""One step of ``fit``, ``evaluate`` or ``predict`` as one replica sees it.

Within a step, a loss is *local*: the mean over the examples of this replica. ``share`` is the part
of the global batch that these examples are, so the sum over the replicas of ``share * local`` is
the mean over the global batch, uneven and empty shares included. Code written for one device then
needs no change: it computes means, and the weighting happens once, where the loss is handed to the
gradient tape (``weigh``) and where values leave the step (``globalize``).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import tensorflow as tf
from keras.src import tree

from tfdist.integrations.keras import active

SUM = tf.distribute.ReduceOp.SUM


class Step:
    """What a replica knows about the step that it runs.

    Args:
        context: The replica context.
        data: This replica's part of the global batch, as it comes from the dataset.

    Attributes:
        batch_size: Number of local examples, a float32 scalar.
        share: ``batch_size`` over the number of examples of all replicas, a float32 scalar.
        loss_depth: How many ``compute_loss`` are being executed, each inside the one before.
        reading: Whether metric variables currently show their sums over the replicas.
        deferred: Updates of moving averages, by variable, that wait for the end of the step.
    """

    def __init__(self, context: tf.distribute.ReplicaContext, data: Any) -> None:
        self.context = context
        self.batch_size = batch_size(data)
        sizes = _sizes_of_all(context, self.batch_size)
        self.share = tf.math.divide_no_nan(self.batch_size, tf.reduce_sum(sizes))
        self._first_example = tf.reduce_sum(sizes[: context.replica_id_in_sync_group])
        self.loss_depth = 0
        self.reading = False
        self.deferred: dict[int, tuple[Any, tf.Tensor]] = {}
        self._graph = active.current_graph()
        self._global: list[Any] = []

    def can_meet(self) -> bool:
        """Whether the calling code is where replicas can meet: not inside control flow."""
        return active.current_graph() is self._graph

    def first_row(self, rows: Any) -> tf.Tensor | None:
        """Where the rows of this replica begin among those of all, if there are some an example.

        Args:
            rows: Number of rows on this replica, a number or a scalar tensor.

        Returns:
            An int64 scalar; None if the number of rows is known not to follow the batch, or the
            values of the step are out of reach.
        """
        if self._graph is not None and tf.executing_eagerly():
            return None
        if not tf.is_tensor(rows) and rows != tf.get_static_value(self.batch_size):
            return None
        an_example = tf.cast(rows, tf.float64) / tf.cast(tf.maximum(self.batch_size, 1), tf.float64)
        return tf.cast(tf.round(tf.cast(self._first_example, tf.float64) * an_example), tf.int64)

    def weigh(self, loss: Any) -> Any:
        """The local loss with the gradient of its share of the global loss.

        A loss that is not a scalar is differentiated as a sum, so it needs no weight.
        """
        loss = tf.convert_to_tensor(loss)
        if loss.shape.rank != 0:
            return loss

        @tf.custom_gradient
        def weighted(x: tf.Tensor) -> tuple[tf.Tensor, Callable[[tf.Tensor], tf.Tensor]]:
            # A mean over no examples is NaN on a replica that got none.
            present = tf.where(self.batch_size > 0, x, tf.zeros_like(x))
            return present, lambda grad: grad * tf.cast(self.share, grad.dtype)

        return weighted(loss)

    def present(self, tensors: list[tf.Tensor]) -> list[tf.Tensor]:
        """The tensors; zeros on a replica that got no examples, where they may be NaN."""
        return tf.cond(
            self.batch_size > 0,
            lambda: [tf.identity(v) for v in tensors],
            lambda: [tf.zeros_like(v) for v in tensors],
        )

    def mark_global(self, structure: Any) -> None:
        """Notes that values are the same on all replicas already."""
        self._global.extend(tree.flatten(structure))

    def globalize(self, outputs: Any) -> Any:
        """Outputs of a step, with each local floating-point scalar made the mean over all examples.

        Cost: one all-reduce of the scalars that are not global already.
        """
        known = {id(v) for v in self._global}
        flat = tree.flatten(outputs)
        local = [i for i, v in enumerate(flat) if id(v) not in known and _is_float_scalar(v)]
        if local:
            reduced = self.context.all_reduce(
                SUM, [times_share(flat[i], self.share) for i in local]
            )
            for i, value in zip(local, reduced, strict=True):
                flat[i] = value
        return tree.pack_sequence_as(outputs, flat)


class _Current(threading.local):
    step: Step | None = None


_current = _Current()


def current() -> Step | None:
    """The step that this replica executes; None outside of one, and in shape inference."""
    step = _current.step
    return step if step is not None and active.replica_context() is not None else None


@contextmanager
def entered(step: Step) -> Iterator[Step]:
    """Makes a step the current one of this thread."""
    previous, _current.step = _current.step, step
    try:
        yield step
    finally:
        _current.step = previous


def times_share(value: Any, share: tf.Tensor) -> tf.Tensor:
    """``value * share``; 0 where the share is 0, even if the value is NaN."""
    value = tf.convert_to_tensor(value)
    return tf.math.multiply_no_nan(value, tf.cast(share, value.dtype))


def batch_size(data: Any) -> tf.Tensor:
    """Leading dimension of the first leaf that has one, as a float32 scalar; else 1."""
    for leaf in tree.flatten(data):
        if isinstance(leaf, tf.RaggedTensor):
            return tf.cast(leaf.nrows(), tf.float32)
        if isinstance(leaf, tf.SparseTensor):
            return tf.cast(leaf.dense_shape[0], tf.float32)
        if leaf is not None and tf.convert_to_tensor(leaf).shape.rank:
            return tf.cast(tf.shape(leaf)[0], tf.float32)
    return tf.constant(1.0)


def _sizes_of_all(context: tf.distribute.ReplicaContext, size: tf.Tensor) -> tf.Tensor:
    """The batch sizes of all replicas, in their order."""
    own = tf.one_hot(context.replica_id_in_sync_group, context.num_replicas_in_sync) * size
    return context.all_reduce(SUM, own)


def _is_float_scalar(value: Any) -> bool:
    return tf.is_tensor(value) and value.dtype.is_floating and value.shape.rank == 0
