"""Accumulated gradients on file: their sum over the replicas, which any number of them can take up.

In memory an accumulator holds the mean over the replicas (see ``optimizers``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from keras.src.backend.tensorflow.core import Variable
from keras.src.optimizers.base_optimizer import BaseOptimizer

from tfdist.integrations.keras import active
from tfdist.integrations.keras.patching import around

_VALUE = "VARIABLE_VALUE"


def install() -> None:
    """Goes around what writes and reads optimizer variables, in Keras's files and checkpoints."""
    around(BaseOptimizer, "build", _build)
    around(BaseOptimizer, "save_own_variables", _save_own_variables)
    around(BaseOptimizer, "load_own_variables", _load_own_variables)
    around(Variable, "_serialize_to_tensors", _serialize_to_tensors)
    around(Variable, "_restore_from_tensors", _restore_from_tensors)


def _build(original: Any, self: Any, variables: Any) -> None:
    original(self, variables)
    strategy: Any = getattr(self, "_distribution_strategy", None)
    if self.gradient_accumulation_steps and active.is_ours(strategy):
        for accumulator in self._accumulated_gradients:
            accumulator._tfdist_mean_of = strategy.num_replicas_in_sync


def _mean_of(variable: Any) -> int:
    """The number of replicas that an accumulator is the mean over; 1 for other variables."""
    return int(getattr(variable, "_tfdist_mean_of", 1))


class _SummedStore:
    """A store of optimizer variables, with accumulators as sums in it and as means outside."""

    def __init__(self, store: Any, variables: Sequence[Any]) -> None:
        self._store = store
        self._counts = {str(i): _mean_of(v) for i, v in enumerate(variables) if _mean_of(v) > 1}

    def keys(self) -> Any:
        return self._store.keys()

    def __getitem__(self, key: str) -> Any:
        value = self._store[key]
        return value[...] / self._counts[key] if key in self._counts else value

    def __setitem__(self, key: str, value: Any) -> None:
        self._store[key] = value * self._counts[key] if key in self._counts else value


def _save_own_variables(original: Any, self: Any, store: Any) -> None:
    original(self, _SummedStore(store, self.variables))


def _load_own_variables(original: Any, self: Any, store: Any) -> None:
    original(self, _SummedStore(store, self.variables))


def _serialize_to_tensors(original: Any, self: Any) -> Any:
    if _mean_of(self) == 1:
        return original(self)
    return {_VALUE: tf.convert_to_tensor(self.value) * _mean_of(self)}


def _restore_from_tensors(original: Any, self: Any, restored_tensors: Any) -> Any:
    if _mean_of(self) == 1:
        return original(self, restored_tensors)
    self.assign(restored_tensors[_VALUE] / _mean_of(self))
    return self.value
