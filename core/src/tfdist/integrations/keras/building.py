"""What the trainer needs before the first step: shapes to build with, and variables in place."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from keras.src import backend, tree

from tfdist.errors import ContextError


def first_share(epoch_iterator: Any) -> Any:
    """A structure of shapes and dtypes like one replica's share of a batch.

    Taken from the dataset's spec where that says enough; else the first batch is drawn.
    """
    spec = epoch_iterator._distributed_dataset.element_spec
    symbols = tree.map_structure(_symbol, spec)
    if all(s is not None for s in tree.flatten(symbols)):
        return symbols
    for _, _, iterator in epoch_iterator:
        return tree.map_structure(_first_value, next(iterator))
    return None


def _symbol(spec: Any) -> Any:
    spec = spec.value_specs[0] if hasattr(spec, "value_specs") else spec
    shape = getattr(spec, "shape", None)
    if shape is None or shape.rank is None or None in shape[1:]:
        return None
    return backend.KerasTensor(tuple(shape), backend.standardize_dtype(spec.dtype))


def _first_value(value: Any) -> Any:
    return value.values[0] if isinstance(value, tf.distribute.DistributedValues) else value


def require_scope(model: Any, strategy: tf.distribute.Strategy) -> None:
    """Checks that all variables of a model and its optimizer were made under a strategy.

    Raises:
        ContextError: One was not; nothing has been changed.
    """
    variables = [("model", v) for v in model.variables]
    if getattr(model, "optimizer", None) is not None:
        variables += [("optimizer", v) for v in model.optimizer.variables]
    if model.compiled:
        variables += [("metric", v) for m in model.metrics for v in m.variables]
    for owner, variable in variables:
        value = getattr(variable, "_value", variable)
        if value is None or strategy.extended.variable_created_in_scope(value):
            continue
        raise ContextError(
            f"Cannot train or evaluate model {model.name!r} under {type(strategy).__name__}. "
            f"Variable {variable.path!r} of its {owner} was created outside the scope of the "
            "strategy, and each replica needs it inside. Create the model, the optimizer and the "
            "metrics inside `with strategy.scope():`."
        )
