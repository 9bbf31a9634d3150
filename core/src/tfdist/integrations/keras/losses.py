"""Losses: the number of elements that a mean divides by is that of all replicas.

Inside a step of Keras's trainer a loss is local (see ``step``). Elsewhere, in a function that the
user gives to ``strategy.run``, Keras's convention holds: the sum over the replicas is the loss.
"""

from __future__ import annotations

import threading
from typing import Any

import tensorflow as tf
from keras.src import ops
from keras.src.losses import loss as loss_module

from tfdist.integrations.keras import active, step, weighing
from tfdist.integrations.keras.patching import around

_MEANS = ("mean", "sum_over_batch_size")


class _Call(threading.local):
    """The loss that is being called, for losses that come as one number."""

    batch_size: tf.Tensor | None = None


_call = _Call()


def install() -> None:
    """Puts the reductions in place of Keras's."""
    around(loss_module, "reduce_values", _reduce_values)
    around(loss_module, "apply_mask", _apply_mask)
    around(loss_module, "scale_loss_for_distribution", _scale)
    around(loss_module, "unscale_loss_for_distribution", _unscale)
    around(loss_module.Loss, "__call__", _loss_call)
    around(tf.nn, "compute_average_loss", _scaled_by_user)
    around(tf.nn, "scale_regularization_loss", _unscaled_regularization)


def _loss_call(
    original: Any, self: Any, y_true: Any, y_pred: Any, sample_weight: Any = None
) -> Any:
    if active.several_replicas() is None:
        return original(self, y_true, y_pred, sample_weight)
    now = step.current()
    previous, _call.batch_size = _call.batch_size, step.batch_size(y_pred)
    try:
        loss = original(self, y_true, y_pred, sample_weight)
    finally:
        _call.batch_size = previous
    # In a user's train_step the loss goes straight to the tape; in compute_loss it is one of
    # several terms, weighed together at its end.
    is_whole = now is not None and now.loss_depth == 0 and loss.shape.rank == 0
    return weighing.loss(now, loss) if now is not None and is_whole else loss


def _reduce_values(
    original: Any, values: Any, sample_weight: Any = None, reduction: Any = "sum_over_batch_size"
) -> Any:
    context = active.several_replicas()
    if context is None or reduction in (None, "none"):
        return original(values, sample_weight, reduction)
    now = step.current()
    if now is None:
        return _contribution(context, values, sample_weight, reduction)
    return _local(now, values, sample_weight, reduction)


def _local(now: step.Step, values: Any, sample_weight: Any, reduction: str) -> Any:
    """A loss whose mean over the replicas, weighted by their shares, is the global one."""
    if values.shape.rank == 0:
        return values
    total = tf.reduce_sum(values)
    share = tf.cast(now.share, total.dtype)
    if reduction == "sum":
        return tf.math.divide_no_nan(total, share)
    if reduction == "mean_with_sample_weight" and sample_weight is not None:
        divisor = now.context.all_reduce(
            step.SUM, tf.cast(tf.reduce_sum(sample_weight), total.dtype)
        )
        return tf.math.divide_no_nan(total, share * divisor)
    return tf.math.divide_no_nan(total, _size(values))


def _contribution(
    context: tf.distribute.ReplicaContext, values: Any, sample_weight: Any, reduction: str
) -> Any:
    """What this replica adds to the loss of the global batch."""
    if values.shape.rank == 0:
        return _scalar_contribution(context, values)
    total = tf.reduce_sum(values)
    if reduction == "sum":
        return total
    if reduction == "mean_with_sample_weight" and sample_weight is not None:
        divisor = tf.cast(tf.reduce_sum(sample_weight), total.dtype)
    else:
        divisor = _size(values)
    return tf.math.divide_no_nan(total, context.all_reduce(step.SUM, divisor))


def _scalar_contribution(context: tf.distribute.ReplicaContext, value: Any) -> Any:
    """For a loss function that gives one number, taken for the mean over the local examples."""
    if _call.batch_size is None:
        return value
    share = tf.math.divide_no_nan(_call.batch_size, context.all_reduce(step.SUM, _call.batch_size))
    return weighing.times_share(tf.where(_call.batch_size > 0, value, tf.zeros_like(value)), share)


def _size(values: Any) -> tf.Tensor:
    return tf.cast(tf.size(values), values.dtype)


def _apply_mask(original: Any, sample_weight: Any, mask: Any, dtype: Any, reduction: Any) -> Any:
    context = active.several_replicas()
    if context is None or mask is None or reduction not in _MEANS:
        return original(sample_weight, mask, dtype, reduction)
    # Valid entries weigh total / valid, counted over all replicas.
    mask = ops.cast(mask, dtype)
    counts = context.all_reduce(step.SUM, tf.stack([_size(mask), tf.reduce_sum(mask)]))
    weights = mask * tf.math.divide_no_nan(counts[0], counts[1])
    return original(sample_weight, weights, dtype, "sum")


def _scale(original: Any, value: Any) -> Any:
    # A term from add_loss or a regularizer: in a step, a mean like every other.
    return value if step.current() is not None else original(value)


def _unscale(original: Any, value: Any) -> Any:
    context = active.several_replicas()
    if context is None or step.current() is not None:
        return value if step.current() is not None else original(value)
    return context.all_reduce(step.SUM, value)


def _scaled_by_user(original: Any, *args: Any, **kwargs: Any) -> Any:
    """What TensorFlow scales to be summed over the replicas is made local again in a step."""
    loss = original(*args, **kwargs)
    now = step.current()
    if now is None or loss.shape.rank != 0:
        return loss
    return tf.math.divide_no_nan(loss, tf.cast(now.share, loss.dtype))


def _unscaled_regularization(original: Any, regularization_loss: Any) -> Any:
    return regularization_loss if step.current() is not None else original(regularization_loss)
