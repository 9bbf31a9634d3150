"""Shares of the global batch, applied to losses, to gradients and to what a step returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
from keras.src import tree

from tfdist.integrations.keras.step import SUM, Step

_Gradient = Callable[[tf.Tensor], tf.Tensor]


def times_share(value: Any, share: tf.Tensor) -> tf.Tensor:
    """``value * share``; 0 where the share is 0, even if the value is NaN."""
    value = tf.convert_to_tensor(value)
    return tf.math.multiply_no_nan(value, tf.cast(share, value.dtype))


def loss(now: Step, value: Any) -> tf.Tensor:
    """A local loss, with the gradient that the step expects of it.

    A loss that is not a scalar is differentiated as a sum, so it needs no weight.
    """
    value = tf.convert_to_tensor(value)
    if value.shape.rank == 0:
        # A mean over no examples is NaN on a replica that got none.
        value = tf.where(now.batch_size > 0, value, tf.zeros_like(value))
        return value if now.weighs_gradients else _with_gradient(value, now.share)
    if now.weighs_gradients:
        return _with_gradient(value, tf.math.divide_no_nan(1.0, now.share))
    return value


def _with_gradient(value: tf.Tensor, factor: tf.Tensor) -> tf.Tensor:
    @tf.custom_gradient
    def identity(x: tf.Tensor) -> tuple[tf.Tensor, _Gradient]:
        return tf.identity(x), lambda grad: grad * tf.cast(factor, grad.dtype)

    return identity(value)


def gradients(now: Step, tensors: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """Gradients as they are to be summed over the replicas.

    Zeros on a replica that got no examples, where what comes out of a model may be NaN.
    """
    if now.weighs_gradients:
        return [times_share(v, now.share) for v in tensors]
    return tf.cond(
        now.batch_size > 0,
        lambda: [tf.identity(v) for v in tensors],
        lambda: [tf.zeros_like(v) for v in tensors],
    )


def summed(
    context: tf.distribute.ReplicaContext, now: Step | None, tensors: Sequence[tf.Tensor]
) -> list[tf.Tensor]:
    """Sums over the replicas inside a model, differentiable.

    Where shares come to the gradients later, what other replicas' losses send back through here
    must carry theirs already, and this replica's must be taken off.

    Cost: one all-reduce, and one more for the gradient.
    """
    if now is None or not now.weighs_gradients:
        return context.all_reduce(SUM, list(tensors))

    @tf.custom_gradient
    def reduce(*values: tf.Tensor) -> tuple[list[tf.Tensor], Callable[..., list[tf.Tensor]]]:
        def back(*grads: tf.Tensor) -> list[tf.Tensor]:
            weighed = context.all_reduce(SUM, [times_share(g, now.share) for g in grads])
            return [tf.math.divide_no_nan(g, tf.cast(now.share, g.dtype)) for g in weighed]

        return context.all_reduce(SUM, list(values)), back

    return tf.nest.flatten(reduce(*tensors))


def globalize(now: Step, outputs: Any) -> Any:
    """Outputs of a step, with each local floating-point scalar made the mean over all examples.

    Cost: one all-reduce of the scalars that are not global already.
    """
    known = {id(v) for v in now.global_values}
    flat = tree.flatten(outputs)
    local = [i for i, v in enumerate(flat) if id(v) not in known and _is_float_scalar(v)]
    if local:
        reduced = now.context.all_reduce(SUM, [times_share(flat[i], now.share) for i in local])
        for i, value in zip(local, reduced, strict=True):
            flat[i] = value
    return tree.pack_sequence_as(outputs, flat)


def _is_float_scalar(value: Any) -> bool:
    return tf.is_tensor(value) and value.dtype.is_floating and value.shape.rank == 0
