"""The trainer: its steps, the batches that they get, and what it builds before them."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import tensorflow as tf
from keras.src import tree
from keras.src.backend.tensorflow import trainer as tf_trainer
from keras.src.trainers.trainer import Trainer

from tfdist.integrations.keras import active, batches, layers, step, weighing
from tfdist.integrations.keras.building import first_share, require_scope
from tfdist.integrations.keras.patching import around


def install() -> None:
    """Goes around the functions of the TensorFlow trainer that know of replicas."""
    cls = tf_trainer.TensorFlowTrainer
    around(Trainer, "compile", _compile)
    around(Trainer, "compute_loss", compute_loss)
    around(Trainer, "_compute_loss", compute_loss)
    around(cls, "_make_function", _make_function)
    around(cls, "make_predict_function", _make_predict_function)
    around(cls, "_autoconvert_optionals", _autoconvert_optionals)
    around(cls, "_maybe_symbolic_build", _maybe_symbolic_build)
    around(tf_trainer, "reduce_per_replica", _reduce_per_replica)


def _compile(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    strategy: Any = getattr(self, "_distribute_strategy", None)
    if not active.is_ours(strategy) or active.replica_context() is not None:
        return original(self, *args, **kwargs)
    if kwargs.get("jit_compile") is True and strategy.num_replicas_in_sync > 1:
        warnings.warn(
            "`jit_compile=True` is ignored: XLA cannot compile a step of several replicas.",
            stacklevel=3,
        )
        kwargs["jit_compile"] = False
    # What compile() makes from names and numbers belongs to the model's strategy.
    with strategy.scope():
        return original(self, *args, **kwargs)


def compute_loss(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    """The loss of a step: its terms are local, and weighed once, by the outermost call."""
    now = step.current()
    if now is None:
        return original(self, *args, **kwargs)
    now.loss_depth += 1
    try:
        loss = original(self, *args, **kwargs)
    finally:
        now.loss_depth -= 1
    return loss if now.loss_depth else weighing.loss(now, loss)


def _make_function(original: Any, self: Any, step_function: Callable[[Any], Any]) -> Any:
    strategy = self.distribute_strategy
    if not active.is_ours(strategy) or strategy.num_replicas_in_sync == 1:
        return original(self, step_function)
    for cls in type(self).__mro__:
        if "compute_loss" in vars(cls):
            around(cls, "compute_loss", compute_loss)

    is_own = type(self).train_step is not tf_trainer.TensorFlowTrainer.train_step

    @functools.wraps(step_function)
    def replica_step(data: Any) -> Any:
        return _run_step(step_function, data, is_own)

    function = original(self, replica_step)

    def on_distributed_batches(iterator: Any) -> Any:
        if isinstance(iterator, (tf.data.Iterator, tf.distribute.DistributedIterator)):
            return function(iterator)
        return function(_split_each(iterator, strategy))

    return on_distributed_batches


def _run_step(step_function: Callable[[Any], Any], data: Any, is_own: bool = False) -> Any:
    context = active.several_replicas()
    if context is None:
        return step_function(data)
    with step.entered(step.Step(context, data, is_own)) as now:
        outputs = step_function(data)
        layers.flush(now)
        return weighing.globalize(now, outputs)


def _split_each(iterator: Iterable[Any], strategy: tf.distribute.Strategy) -> Iterator[Any]:
    for batch in iterator:
        yield batches.split(batch, strategy)


def _make_predict_function(original: Any, self: Any, force: bool = False) -> Any:
    strategy = self.distribute_strategy
    if self.predict_function is not None and not force:
        return self.predict_function
    result = original(self, force)
    if not active.is_ours(strategy) or strategy.num_replicas_in_sync == 1:
        return result
    require_scope(self, strategy)
    function = self.predict_function

    def on_distributed_batches(data: Any) -> Any:
        return function([batches.split(batch, strategy) for batch in data])

    self.predict_function = on_distributed_batches
    return result


def _autoconvert_optionals(original: Any, self: Any, step_func: Callable[[Any], Any]) -> Any:
    """``predict`` passes through here the function that it runs on each replica."""
    function = original(self, step_func)
    if not active.is_ours(self.distribute_strategy):
        return function

    @functools.wraps(function)
    def wrapper(data: Any) -> Any:
        # In fit and evaluate the function calls strategy.run itself, in cross-replica context.
        return _run_step(function, data)

    return wrapper


def _reduce_per_replica(original: Any, values: Any, strategy: Any, reduction: str) -> Any:
    """Scalars of a step are the same on all replicas; one of them stands for all."""
    if not active.is_ours(strategy) or strategy.num_replicas_in_sync == 1:
        return original(values, strategy, reduction)

    def reduce(value: Any) -> Any:
        if not isinstance(value, tf.distribute.DistributedValues):
            return value
        first = value.values[0]
        return (
            first if len(getattr(first, "shape", ())) == 0 else original(value, strategy, reduction)
        )

    return tree.map_structure(reduce, values)


def _maybe_symbolic_build(
    original: Any, self: Any, iterator: Any = None, data_batch: Any = None
) -> Any:
    strategy = self.distribute_strategy
    if not active.is_ours(strategy):
        return original(self, iterator, data_batch)
    require_scope(self, strategy)
    if self._distribute_strategy is None or _is_built(self):
        return None
    if iterator is not None:
        data_batch = first_share(iterator)
    with strategy.scope():
        self._symbolic_build(data_batch=data_batch)
    require_scope(self, strategy)
    return None


def _is_built(model: Any) -> bool:
    parts = [*model._flatten_layers(), model._compile_loss, model._compile_metrics, model.optimizer]
    return all(part.built for part in parts if part is not None)
