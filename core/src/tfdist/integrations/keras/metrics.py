"""Metrics: in a step, ``result()`` gives the value over the examples of all replicas."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import tensorflow as tf
from keras.src import backend, metrics, ops, tree
from keras.src.trainers.trainer import Trainer

from tfdist.integrations.keras import active, step
from tfdist.integrations.keras.patching import around, around_in_subclasses


def install() -> None:
    """Goes around the ``result`` of every metric class, and the trainer's collection of them."""
    around_in_subclasses(metrics.Metric, "result", _result)
    around(metrics.Mean, "update_state", _mean_update_state)
    around(Trainer, "get_metrics_result", _get_metrics_result)


def _result(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    now = step.current()
    if now is None or now.reading or not now.can_meet():
        return original(self, *args, **kwargs)
    with _aggregated_reads(now, self.variables):
        result = _as_tensors(original(self, *args, **kwargs))
    now.mark_global(result)
    return result


def _get_metrics_result(original: Any, self: Any) -> Any:
    now = step.current()
    if now is None or now.reading or not now.can_meet():
        result = original(self)
        return _as_tensors(result) if active.is_ours(self.distribute_strategy) else result
    with _aggregated_reads(now, [v for m in self.metrics for v in m.variables]):
        result = _as_tensors(original(self))
    now.mark_global(result)
    return result


def _as_tensors(result: Any) -> Any:
    """Reads variables that a metric returns as its result while they show their sums."""

    def read(value: Any) -> Any:
        is_variable = isinstance(value, (backend.Variable, tf.Variable))
        return tf.convert_to_tensor(value) if is_variable else value

    return tree.map_structure(read, result)


@contextmanager
def _aggregated_reads(now: step.Step, variables: list[Any]) -> Iterator[None]:
    """Makes metric variables show what they hold over all replicas.

    Cost: one all-reduce of all variables that are summed.
    """
    variables = list({id(v): v for v in variables}.values())
    local = [v for v in variables if _is_local(v)]
    if len(local) < len(variables):
        # A variable with one copy is complete only when each replica has updated it.
        now.context.merge_call(_meet)
    summed = [v for v in local if v.aggregation == "sum"]
    values = [tf.convert_to_tensor(v.value) for v in summed]
    totals = now.context.all_reduce(step.SUM, values) if values else []
    now.reading = True
    try:
        with (
            tf.__internal__.distribute.variable_sync_on_read_context(),
            backend.StatelessScope(zip(summed, totals, strict=True), initialize_variables=False),
        ):
            yield
    finally:
        now.reading = False


def _meet(strategy: tf.distribute.Strategy) -> None:
    del strategy


def _is_local(variable: Any) -> bool:
    """Whether each replica has a value of its own."""
    return (
        isinstance(variable.value, tf.distribute.DistributedValues)
        and variable.value.synchronization == tf.VariableSynchronization.ON_READ
    )


def _mean_update_state(original: Any, self: Any, values: Any, sample_weight: Any = None) -> Any:
    """One number a batch, such as its loss, counts once a batch, by the share of each replica."""
    now = step.current()
    if now is None:
        return original(self, values, sample_weight)
    values = ops.cast(values, self.dtype)
    if sample_weight is None and values.shape.rank == 0:
        sample_weight = now.share
    if sample_weight is not None and len(getattr(sample_weight, "shape", ())) == 0:
        # The mean over no examples is NaN, and weighs nothing.
        weight = ops.cast(sample_weight, self.dtype)
        mean = tf.reduce_mean(values)
        return original(self, tf.where(weight > 0, mean, tf.zeros_like(mean)), weight)
    return original(self, values, sample_weight)
