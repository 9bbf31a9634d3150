"""Optimizers: gradients are summed over the replicas first; everything else follows from the sum.

Clipping, accumulation, loss scaling and the updates then are what one device would do with the
global gradient. With a copy of each variable a replica, every replica does them for its own copies;
with one copy for all, they are done once, across the replicas.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from keras.src import backend
from keras.src.backend.tensorflow.core import Variable
from keras.src.backend.tensorflow.optimizer import TFOptimizer
from keras.src.optimizers.base_optimizer import BaseOptimizer
from keras.src.optimizers.loss_scale_optimizer import LossScaleOptimizer

from tfdist.errors import ContextError
from tfdist.integrations.keras import active, step, weighing
from tfdist.integrations.keras.patching import around


def install() -> None:
    """Goes around ``apply`` and the parts of it that would meet other replicas again."""
    for cls in (BaseOptimizer, LossScaleOptimizer, *_newer_optimizers()):
        around(cls, "apply", _apply)
    around(LossScaleOptimizer, "_tf_apply", _loss_scale_tf_apply)
    around(BaseOptimizer, "_backend_apply_gradients", _backend_apply_gradients)
    around(BaseOptimizer, "_clip_gradients", _clip_gradients)
    around(TFOptimizer, "_apply_weight_decay", _apply_weight_decay)
    around(TFOptimizer, "_backend_update_step", _backend_update_step)
    around(
        TFOptimizer, "_backend_increment_gradient_accumulators", _increment_gradient_accumulators
    )
    around(Variable, "_direct_assign", _direct_assign)


def _newer_optimizers() -> list[Any]:
    """Optimizers with an ``apply`` of their own that only newer versions of Keras have."""
    if importlib.util.find_spec("keras.src.optimizers.multi_optimizer") is None:
        return []
    return [importlib.import_module("keras.src.optimizers.multi_optimizer").MultiOptimizer]


def _apply(original: Any, self: Any, grads: Any, trainable_variables: Any = None) -> Any:
    context = active.replica_context()
    if context is None or active.is_applying_gradients():
        return original(self, grads, trainable_variables)
    _require_same_strategy(self, context.strategy)
    grads = list(grads)
    variables = None if trainable_variables is None else list(trainable_variables)
    if active.merges_updates(context.strategy):
        # Across the replicas there is one copy to update, from gradients reduced to its device.
        grads = _to_be_summed(grads)
        return context.merge_call(_apply_once, args=(original, self, grads, variables))
    if context.num_replicas_in_sync > 1:
        grads = _summed(context, self, grads, variables)
    with active.applying_gradients():
        return original(self, grads, variables)


def _summed(
    context: tf.distribute.ReplicaContext, optimizer: Any, grads: list[Any], variables: Any
) -> list[Any]:
    present = [i for i, grad in enumerate(grads) if grad is not None]
    if not present:
        return grads
    result = list(grads)
    summands = _to_be_summed([grads[i] for i in present])
    if optimizer.gradient_accumulation_steps:
        reduced = context.all_reduce(step.SUM, summands)
    else:
        # One tensor that all replicas pass as gradient counts once, as Keras's tests expect.
        reduced = context.merge_call(_sum_once, args=(summands,))
    targets = optimizer._trainable_variables if variables is None else variables
    for i, grad in zip(present, reduced, strict=True):
        # Such a variable takes its "gradient" as its new value: the mean of what replicas propose.
        overwrites = optimizer._overwrite_variable_with_gradient(targets[i])
        result[i] = grad / context.num_replicas_in_sync if overwrites else grad
    return result


def _sum_once(strategy: Any, grads: Sequence[Any]) -> list[Any]:
    own = [isinstance(grad, tf.distribute.DistributedValues) for grad in grads]
    pairs = [(grad, grad) for grad, differs in zip(grads, own, strict=True) if differs]
    reduced = iter(strategy.extended.batch_reduce_to(step.SUM, pairs) if pairs else ())
    return [next(reduced) if differs else grad for grad, differs in zip(grads, own, strict=True)]


def _to_be_summed(grads: list[Any]) -> list[Any]:
    """Gradients of a step, with this replica's share applied; others as they are."""
    now = step.current()
    some = [i for i, grad in enumerate(grads) if grad is not None]
    if now is None or not some:
        return grads
    values = weighing.gradients(now, [_values(grads[i]) for i in some])
    result = list(grads)
    for i, value in zip(some, values, strict=True):
        result[i] = _with_values(grads[i], value)
    return result


def _values(grad: Any) -> tf.Tensor:
    return grad.values if isinstance(grad, tf.IndexedSlices) else tf.convert_to_tensor(grad)


def _with_values(grad: Any, values: tf.Tensor) -> Any:
    if isinstance(grad, tf.IndexedSlices):
        return tf.IndexedSlices(values, grad.indices, grad.dense_shape)
    return values


def _apply_once(
    strategy: tf.distribute.Strategy, original: Any, optimizer: Any, grads: Any, variables: Any
) -> Any:
    """Applies the gradients of all replicas in cross-replica context."""
    targets = optimizer._trainable_variables if variables is None else variables
    present = [i for i, grad in enumerate(grads) if grad is not None]
    grads = list(grads)
    reduced = strategy.extended.batch_reduce_to(
        step.SUM, [(grads[i], _tf_variable(targets[i])) for i in present]
    )
    for i, grad in zip(present, reduced, strict=True):
        grads[i] = grad
    with active.applying_gradients():
        return original(optimizer, grads, variables)


def _require_same_strategy(optimizer: Any, strategy: tf.distribute.Strategy) -> None:
    made_under = getattr(optimizer, "_distribution_strategy", strategy)
    if made_under is not strategy:
        raise ContextError(
            f"Cannot apply gradients with optimizer {optimizer.name!r}. It was created under "
            f"{type(made_under).__name__} and is used under {type(strategy).__name__}, so its "
            "variables are not where the replicas are. Create it inside `with strategy.scope():`."
        )


def _backend_apply_gradients(original: Any, self: Any, grads: Any, trainable_variables: Any) -> Any:
    """Accumulators hold the mean over the replicas, as they would if each kept its own sum."""
    if active.is_applying_gradients() and self.gradient_accumulation_steps:
        grads = [_times(grad, 1 / _replica_count()) for grad in grads]
    return original(self, grads, trainable_variables)


def _clip_gradients(original: Any, self: Any, grads: Any) -> Any:
    if active.is_applying_gradients() and self.gradient_accumulation_steps:
        grads = [_times(grad, _replica_count()) for grad in grads]
    return original(self, grads)


def _replica_count() -> int:
    return int(tf.distribute.get_strategy().num_replicas_in_sync)


def _times(grad: Any, factor: float) -> Any:
    if factor == 1 or grad is None:
        return grad
    values = _values(grad)
    return _with_values(grad, values * tf.cast(factor, values.dtype))


def _loss_scale_tf_apply(
    original: Any, self: Any, grads: Any, trainable_variables: Any = None
) -> Any:
    if active.is_applying_gradients():
        return self._common_apply(grads, trainable_variables)
    return original(self, grads, trainable_variables)


def _apply_weight_decay(original: Any, self: Any, variables: Any) -> Any:
    if active.is_applying_gradients():
        return BaseOptimizer._apply_weight_decay(self, variables)
    return original(self, variables)


def _backend_update_step(
    original: Any, self: Any, grads: Any, trainable_variables: Any, learning_rate: Any
) -> Any:
    if not active.is_applying_gradients():
        return original(self, grads, trainable_variables, learning_rate)
    pairs = zip(grads, map(_tf_variable, trainable_variables), strict=True)
    return self._distributed_tf_update_step(
        tf.distribute.get_strategy(), list(pairs), learning_rate
    )


def _increment_gradient_accumulators(
    original: Any, self: Any, grads: Any, acc_grads: Sequence[Any]
) -> Any:
    if not active.is_applying_gradients():
        return original(self, grads, acc_grads)
    for grad, accumulator in zip(grads, acc_grads, strict=True):
        accumulator.assign(accumulator + grad)
    return None


def _direct_assign(original: Any, self: Any, value: Any) -> Any:
    """While gradients are applied, replicas agree on the value: each sets its own copy."""
    context = active.replica_context()
    variable = self._value
    if (
        context is None
        or not active.is_applying_gradients()
        or not isinstance(variable, tf.distribute.DistributedValues)
    ):
        return original(self, value)
    return context.strategy.extended.update(
        variable, lambda v, x: v.assign(tf.cast(x, v.dtype)), args=(value,), group=False
    )


def _tf_variable(variable: Any) -> Any:
    return variable.value if isinstance(variable, backend.Variable) else variable
