"""What users hold: a strategy."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from tfdist import integrations
from tfdist.errors import OptionError, ValueMismatchError
from tfdist.replica.reduce_ops import as_reduce_op
from tfdist.strategies.extended import Extended, Parts
from tfdist.values import PerReplica

_log = logging.getLogger(__name__)


class Strategy(tf.distribute.Strategy):
    """A way to spread computation over devices, put together from parts.

    Args:
        parts: What it is made of.
    """

    def __init__(self, parts: Parts) -> None:
        integrations.activate()
        super().__init__(Extended(self, parts))
        _log.info(
            "strategy %s: %d replicas on %s, variables on %s, cross-device ops %s, runner %s",
            type(self).__name__,
            len(parts.worker_devices),
            ", ".join(parts.worker_devices),
            ", ".join(parts.parameter_devices),
            type(parts.cross_device_ops).__name__,
            type(parts.runner).__name__,
        )

    def scope(self) -> Any:
        """Makes this the current strategy: variables created inside belong to it."""
        integrations.activate()
        return super().scope()

    def run(
        self,
        fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
        options: tf.distribute.RunOptions | None = None,
    ) -> Any:
        """Runs a function on every replica.

        Args:
            fn: Called in each replica context.
            args: Positional arguments; per-replica values give each replica its own.
            kwargs: Keyword arguments, likewise.
            options: ``tf.distribute.RunOptions``.

        Returns:
            The joined results: per-replica values where they differ.

        Raises:
            OptionError: ``fn``, ``args``, ``kwargs`` or ``options`` are of the wrong kind.
        """
        if not callable(fn):
            raise OptionError(
                f"Cannot run {fn!r}. A function was expected as `fn`. Pass the function itself and "
                "its arguments as `args`."
            )
        if not isinstance(args, (list, tuple)):
            raise OptionError(
                "positional args must be a list or tuple, got "
                f"{type(args)}. Pass args=(value,) for one argument."
            )
        if options is not None and not isinstance(options, tf.distribute.RunOptions):
            raise OptionError(
                f"Cannot run with options={options!r}. tf.distribute.RunOptions was expected. Pass "
                "one, or None."
            )
        self._require_own((args, kwargs), "run")
        with self.scope():
            return self.extended.call_for_each_replica(fn, args=args, kwargs=kwargs or {})

    def reduce(self, reduce_op: Any, value: Any, axis: int | Sequence[int] | None) -> Any:
        """Reduces a value over the replicas to one tensor, and over axes of it if asked.

        Args:
            reduce_op: ``tf.distribute.ReduceOp.SUM`` or ``MEAN``, or their names.
            value: A nested structure of per-replica values.
            axis: Axes to reduce within each replica too, exactly with unequal sizes; or None.

        Returns:
            The structure of reduced tensors.

        Raises:
            ValueMismatchError: The replicas' values do not fit together.

        Cost: one reduction of the value's bytes. Runs on: the host.
        """
        reduce_op = as_reduce_op(reduce_op)
        self._require_own(value, "reduce")
        if axis is None:
            return self.extended._reduce(reduce_op, value)
        if not isinstance(axis, (int, tuple, list)):
            raise OptionError(
                f"Cannot reduce along axis={axis!r}. An integer or a tuple of integers was "
                "expected. Pass None to reduce over the replicas only."
            )
        return tf.nest.map_structure(lambda v: self._reduce_axis(reduce_op, v, axis), value)

    def gather(self, value: Any, axis: int) -> Any:
        """Concatenates a value of all replicas along an axis.

        Args:
            value: A per-replica value of dense tensors of equal rank and dtype; sizes may differ
                along ``axis`` only.
            axis: The axis to concatenate along, ``0 <= axis < rank``.

        Returns:
            One tensor, in the order of the replica ids.

        Raises:
            ValueMismatchError: The replicas' values do not fit together.

        Cost: one gather of the value's bytes. Runs on: the host.
        """
        self._require_own(value, "gather")
        return super().gather(value, axis)

    def _require_own(self, structure: Any, action: str) -> None:
        count = self.extended._num_local_replicas
        for value in tf.nest.flatten(structure):
            if not isinstance(value, tf.distribute.DistributedValues):
                continue
            if isinstance(value, tf.Variable):
                owner = getattr(value, "distribute_strategy", None)
                if owner is None or owner is self:
                    continue
                seen = f"variable {value.name!r} of another strategy"
            elif len(value._values) == count:
                continue
            else:
                seen = f"{type(value).__name__} with {len(value._values)} values"
            raise ValueMismatchError(
                f"Cannot {action} with a {seen}. {type(self).__name__} has {count} replicas, and "
                "values of this strategy were expected. Make the values with the strategy that "
                "uses them."
            )

    def _reduce_axis(self, reduce_op: Any, value: Any, axis: Any) -> tf.Tensor:
        results = self.experimental_local_results(value)
        if len(results) < self.num_replicas_in_sync:
            results = tuple(results) * self.num_replicas_in_sync
        local = [tf.convert_to_tensor(v) for v in results]
        axes = [axis] if isinstance(axis, int) else list(axis)
        if any(v.shape.rank == 0 for v in local):
            raise ValueMismatchError(
                f"Cannot reduce a scalar along axis {axis}. `axis` = {axis} of a value of rank 0. "
                "Pass axis=None."
            )
        total = self._sum_of([tf.reduce_sum(v, axes) for v in local])
        if reduce_op == tf.distribute.ReduceOp.SUM:
            return total
        counts = [tf.reduce_prod(tf.gather(tf.shape(v, tf.int64), axes)) for v in local]
        return total / tf.cast(self._sum_of(counts), total.dtype)

    def _sum_of(self, local: list[tf.Tensor]) -> tf.Tensor:
        value = PerReplica(local) if len(local) > 1 else local[0]
        return self.extended._reduce(tf.distribute.ReduceOp.SUM, value)

    def __reduce__(self) -> Any:
        raise OptionError(
            f"Cannot pickle {type(self).__name__}: it holds devices and variables of this process. "
            "Make it anew in the other process with tfdist.strategy(...)."
        )

    @classmethod
    def describe(cls, **options: Any) -> dict[str, Any]:
        """What the strategy would use, without running anything: for ``tfdist explain``."""
        strategy = cls(**options)
        extended = strategy.extended
        return {
            "devices": list(extended.worker_devices),
            "parameter_devices": list(extended.parameter_devices),
            "cross_device_ops": type(extended.cross_device_ops).__name__,
            "replicas": strategy.num_replicas_in_sync,
        }


def _refused(name: str, instead: str) -> Callable[..., Any]:
    def refuse(*_: Any, **__: Any) -> Any:
        raise OptionError(
            f"Cannot call {name}(): it belongs to the sessions and iterators of TensorFlow 1, and "
            f"a TensorFlow 2 method was expected. Use {instead}() instead."
        )

    refuse.__name__ = name
    refuse.__doc__ = f"TensorFlow 1 only: refused, see ``{instead}``."
    return refuse


for _name, _instead in (
    ("make_dataset_iterator", "experimental_distribute_dataset"),
    ("make_input_fn_iterator", "distribute_datasets_from_function"),
    ("experimental_run", "run"),
):
    setattr(Strategy, _name, _refused(_name, _instead))
