"""Layers that keep something between calls: added losses and moving averages."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import tensorflow as tf
from keras.src import backend, layers, ops
from keras.src.backend.common import KerasVariable
from keras.src.backend.tensorflow import nn

from tfdist.integrations.keras import active, step, weighing
from tfdist.integrations.keras.patching import around


class _Replica(threading.local):
    """What layers hold for one replica: they are shared by all."""

    def __init__(self) -> None:
        self.losses: weakref.WeakKeyDictionary[Any, list[Any]] = weakref.WeakKeyDictionary()
        self.collected: list[tuple[Any, tf.Tensor]] | None = None


_replica = _Replica()


def install() -> None:
    """Goes around the losses of layers and the moving averages of batch normalization."""
    around(layers.Layer, "add_loss", _add_loss)
    around(layers.Layer, "_get_own_losses", _get_own_losses)
    around(layers.Layer, "_clear_losses", _clear_losses)
    around(layers.BatchNormalization, "call", _batch_normalization)
    around(layers.BatchNormalization, "_moments", _moments)
    around(KerasVariable, "assign", _assign)
    around(nn, "_compute_moments_sync", _synchronized_moments)


def _add_loss(original: Any, self: Any, loss: Any) -> Any:
    if active.several_replicas() is None:
        return original(self, loss)
    before = list(self._losses)
    original(self, loss)
    _replica.losses.setdefault(self, []).extend(self._losses[len(before) :])
    self._losses[:] = before
    return None


def _get_own_losses(original: Any, self: Any) -> Any:
    if active.several_replicas() is None:
        return original(self)
    return list(_replica.losses.get(self, ()))


def _clear_losses(original: Any, self: Any) -> Any:
    if active.several_replicas() is not None:
        _replica.losses.pop(self, None)
    return original(self)


def _batch_normalization(
    original: Any, self: Any, inputs: Any, training: Any = None, mask: Any = None
) -> Any:
    context = active.several_replicas()
    if context is None or not training or not self.trainable:
        return original(self, inputs, training=training, mask=mask)
    now = step.current()
    if now is not None and any(id(v) in now.deferred for v in self.non_trainable_variables):
        flush(now)  # A layer that is called twice builds on its first update.
    with _collecting() as updates:
        outputs = original(self, inputs, training=training, mask=mask)
    if self.synchronized:
        _assign_equal(context, updates)
    elif now is not None and now.can_meet():
        now.deferred.update({id(variable): (variable, value) for variable, value in updates})
    else:
        size = step.batch_size(inputs)
        share = tf.math.divide_no_nan(size, context.all_reduce(step.SUM, size))
        _assign_means(context, updates, share)
    return outputs


def flush(now: step.Step) -> None:
    """Sets moving averages to the mean of the replicas' updates, by share.

    Cost: one all-reduce of all statistics that the step updates.
    """
    updates = list(now.deferred.values())
    now.deferred = {}
    _assign_means(now.context, updates, now.share)


def _assign_means(context: Any, updates: list[tuple[Any, tf.Tensor]], share: tf.Tensor) -> None:
    if not updates:
        return
    # Statistics of no examples are NaN, and weigh nothing.
    means = context.all_reduce(
        step.SUM, [weighing.times_share(value, share) for _, value in updates]
    )
    _assign_equal(context, [(v, mean) for (v, _), mean in zip(updates, means, strict=True)])


def _assign_equal(context: Any, updates: list[tuple[Any, tf.Tensor]]) -> None:
    """Sets variables to values that are the same on all replicas."""
    variables, values = [v for v, _ in updates], [value for _, value in updates]
    if active.merges_updates(context.strategy):
        context.merge_call(_assign_once, args=(variables, values))
        return
    with active.applying_gradients():
        for variable, value in zip(variables, values, strict=True):
            variable.assign(value)


def _assign_once(strategy: tf.distribute.Strategy, variables: Any, values: Any) -> None:
    for variable, value in zip(variables, values, strict=True):
        variable.assign(strategy.experimental_local_results(value)[0])


@contextmanager
def _collecting() -> Iterator[list[tuple[Any, tf.Tensor]]]:
    updates: list[tuple[Any, tf.Tensor]] = []
    previous, _replica.collected = _replica.collected, updates
    try:
        yield updates
    finally:
        _replica.collected = previous


def _assign(original: Any, self: Any, value: Any) -> Any:
    if _replica.collected is None:
        return original(self, value)
    value = tf.cast(tf.convert_to_tensor(value), self._dtype)
    _replica.collected.append((self, value))
    return value


def _moments(original: Any, self: Any, inputs: Any, mask: Any) -> Any:
    context = active.several_replicas()
    if context is None:
        return original(self, inputs, mask)
    if mask is not None and self.synchronized:
        return _synchronized_masked_moments(self, context, inputs, mask)
    mean, variance = original(self, inputs, mask)
    # Of no examples they are NaN, which would reach the gradients of gamma and beta.
    present = tf.size(inputs) > 0
    return (
        tf.where(present, mean, tf.zeros_like(mean)),
        tf.where(present, variance, tf.ones_like(variance)),
    )


def _synchronized_masked_moments(self: Any, context: Any, inputs: Any, mask: Any) -> Any:
    """Mean and variance of the valid entries of all replicas."""
    axes, now = self._reduction_axes, step.current()
    valid = tf.cast(tf.broadcast_to(tf.expand_dims(mask, -1), tf.shape(inputs)), inputs.dtype)
    inputs = tf.where(valid > 0, inputs, 0)
    totals = [tf.reduce_sum(inputs, axes, True), tf.reduce_sum(valid, axes, True)]
    total, count = weighing.summed(context, now, totals)
    mean = total / (count + backend.epsilon())
    squares = tf.reduce_sum(tf.square(inputs - mean) * valid, axes, keepdims=True)
    (squares,) = weighing.summed(context, now, [squares])
    return ops.squeeze(mean), ops.squeeze(squares / (count + backend.epsilon()))


def _synchronized_moments(original: Any, x: Any, axes: Any, keepdims: bool) -> Any:
    """Mean and variance over all replicas, met once."""
    context = active.several_replicas()
    if context is None:
        return original(x, axes, keepdims)
    sums = [tf.reduce_sum(v, axes, keepdims=True) for v in (x, tf.square(x), tf.ones_like(x))]
    total, squares, count = weighing.summed(context, step.current(), sums)
    mean = tf.math.divide_no_nan(total, count)
    variance = tf.maximum(tf.math.divide_no_nan(squares, count) - tf.square(mean), 0.0)
    if keepdims:
        return mean, variance
    return tf.squeeze(mean, axes), tf.squeeze(variance, axes)
