"""How a strategy creates the variables that ask for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from tfdist.errors import OptionError
from tfdist.tf_internals import variables
from tfdist.variables.aggregating import AggregatingVariable
from tfdist.variables.distributed import MirroredVariable, SyncOnReadVariable

_SYNC = tf.VariableSynchronization
_AGGREGATIONS = (
    tf.VariableAggregation.NONE,
    tf.VariableAggregation.SUM,
    tf.VariableAggregation.MEAN,
    tf.VariableAggregation.ONLY_FIRST_REPLICA,
)


def create_plain(
    device: str, strategy: Any, next_creator: Callable[..., Any], kwargs: dict[str, Any]
) -> Any:
    """One plain variable on a device."""
    del strategy
    kwargs.pop("colocate_with", None)
    with tf.device(device):
        return next_creator(**kwargs)


def create_mirrored(
    devices: Sequence[str], strategy: Any, next_creator: Callable[..., Any], kwargs: dict[str, Any]
) -> Any:
    """A variable with a component on each device, all starting with the same value.

    Raises:
        OptionError: The synchronization or aggregation cannot be used here.
    """
    synchronization, aggregation = _checked(kwargs)
    if synchronization == _SYNC.AUTO:
        kwargs["synchronization"] = _SYNC.ON_WRITE
    colocate_with = kwargs.pop("colocate_with", None)
    if colocate_with is not None and hasattr(colocate_with, "_devices"):
        devices = colocate_with._devices
    components: list[tf.Variable] = []
    for i, device in enumerate(devices):
        options = dict(kwargs)
        if i:
            options["initial_value"] = _initial_value_of(components[0], device)
            options["name"] = f"{components[0].name.split(':')[0]}/replica_{i}/"
        with tf.device(device), variables.silent_copies(), variables.stop_recording():
            components.append(next_creator(**options))
    cls = SyncOnReadVariable if synchronization == _SYNC.ON_READ else MirroredVariable
    _check_mean(components[0], aggregation)
    return cls(strategy, components, aggregation)


def create_central(
    device: str,
    worker_devices: Sequence[str],
    strategy: Any,
    next_creator: Callable[..., Any],
    kwargs: dict[str, Any],
) -> Any:
    """One variable for all replicas; what is reduced on read has a component a replica."""
    synchronization, aggregation = _checked(kwargs)
    kwargs.pop("colocate_with", None)
    if synchronization == _SYNC.ON_READ:
        return create_mirrored(worker_devices, strategy, next_creator, kwargs)
    with tf.device(device), variables.stop_recording():
        variable = next_creator(**kwargs)
    _check_mean(variable, aggregation)
    return AggregatingVariable(strategy, [variable], aggregation)


def _initial_value_of(primary: tf.Variable, device: str) -> Callable[[], Any]:
    def initial_value() -> Any:
        if tf.executing_eagerly() or variables.inside_function():
            return tf.identity(primary.value())
        with tf.device(device):
            return tf.identity(primary.initial_value)

    return initial_value


def _checked(kwargs: dict[str, Any]) -> tuple[Any, Any]:
    synchronization = kwargs.get("synchronization")
    aggregation = kwargs.get("aggregation")
    if synchronization is None:
        synchronization = _SYNC.AUTO
    if aggregation is None:
        aggregation = tf.VariableAggregation.NONE
    name = kwargs.get("name")
    if synchronization == _SYNC.NONE:
        raise OptionError(
            "`NONE` variable synchronization mode is not supported with tf.distribute strategy. "
            f"AUTO, ON_WRITE or ON_READ was expected. Please change the `synchronization` for "
            f"variable: {name}"
        )
    if synchronization not in (_SYNC.AUTO, _SYNC.ON_WRITE, _SYNC.ON_READ):
        raise OptionError(
            f"Invalid variable synchronization mode: {synchronization} for variable: {name}. "
            "Pass a tf.VariableSynchronization: AUTO, ON_WRITE or ON_READ."
        )
    if aggregation not in _AGGREGATIONS:
        raise OptionError(
            f"Invalid variable aggregation mode: {aggregation} for variable: {name}. "
            "Pass a tf.VariableAggregation: NONE, SUM, MEAN or ONLY_FIRST_REPLICA."
        )
    return synchronization, aggregation


def _check_mean(variable: tf.Variable, aggregation: Any) -> None:
    if aggregation == tf.VariableAggregation.MEAN and not variable.dtype.is_floating:
        raise OptionError(
            "creating distributed tf.Variable with aggregation=MEAN and a non-floating dtype is "
            f"not supported, please use a different aggregation or dtype: {variable.name!r} is "
            f"{variable.dtype.name}."
        )
