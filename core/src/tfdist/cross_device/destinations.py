"""Which devices a destination means."""

from __future__ import annotations

import contextlib
from typing import Any

import tensorflow as tf

from tfdist.errors import DeviceError
from tfdist.tf_internals import type_specs
from tfdist.values import is_distributed_variable


def devices_of(destinations: Any) -> tuple[str, ...]:
    """The devices of a destination, as canonical full names.

    Args:
        destinations: A device name (short or full) or ``tf.config.LogicalDevice``; a list or tuple
            of destinations; a ``tf.Variable`` or distributed variable; a distributed value; a
            tensor or another value with a ``device``.

    Returns:
        One name a destination device, in order and with repetitions. A name is empty where a
        symbolic value has no device yet: "wherever TensorFlow places it".

    Raises:
        DeviceError: The destination is empty, has no device, or names a device that isn't there.
    """
    if isinstance(destinations, (str, tf.config.LogicalDevice)):
        return (_named_device(destinations),)
    if isinstance(destinations, (list, tuple)):
        if not destinations:
            raise DeviceError(
                "Cannot send a value to no device. The destinations are empty, and at least one "
                "device was expected. Pass a device name, a variable or a distributed value."
            )
        return tuple(name for each in destinations for name in devices_of(each))
    components = components_of(destinations)
    if components is not None:
        return tuple(device_of(value) for value in components)
    if not _has_device(destinations):
        raise DeviceError(
            f"Cannot send a value to {destinations!r}. It is a {type(destinations).__name__} and "
            "has no device; a device name, a variable, a tensor or a distributed value was "
            "expected. Pass one of those, or a list of device names."
        )
    return (device_of(destinations),)


def components_of(value: Any) -> tuple[Any, ...] | None:
    """The components of a distributed value or variable, one a replica; None for other values."""
    if isinstance(value, tf.distribute.DistributedValues) or is_distributed_variable(value):
        values = getattr(value, "values", None)
        return tuple(value._values if values is None else values)
    return None


def device_of(value: Any) -> str:
    """The canonical device of a tensor, variable or composite tensor; empty where unknown."""
    device = getattr(value, "device", None)
    if device is None and tf.is_tensor(value):
        parts = tf.nest.flatten(value, expand_composites=True)
        device = parts[0].device if parts else None
    return type_specs.resolve_device(device) if device else ""


def same_devices(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    """Whether two destinations are the same devices, in whatever order."""
    return sorted(left) == sorted(right)


def on_device(name: str) -> contextlib.AbstractContextManager[Any]:
    """A scope that places ops on a device; none for the empty name."""
    return tf.device(name) if name else contextlib.nullcontext()


def _has_device(value: Any) -> bool:
    return isinstance(getattr(value, "device", None), str) or (
        tf.is_tensor(value) and not isinstance(value, (int, float, complex, bool))
    )


def _named_device(name: str | Any) -> str:
    text = name if isinstance(name, str) else name.name
    try:
        spec = tf.DeviceSpec.from_string(text)
    except ValueError as error:
        raise _unknown_device(text) from error
    if not text.strip("/") or (spec.device_type is None and spec.device_index is not None):
        raise _unknown_device(text)
    if spec.device_type is not None:
        spec = spec.replace(device_type=spec.device_type.upper())
    resolved = type_specs.resolve_device(spec.to_string())
    if resolved not in _known_devices():
        raise _unknown_device(text)
    return resolved


def _known_devices() -> tuple[str, ...]:
    return tuple(
        type_specs.canonicalize_device(device.name) for device in tf.config.list_logical_devices()
    )


def _unknown_device(name: str) -> DeviceError:
    known = ", ".join(_known_devices())
    return DeviceError(
        f"Cannot send a value to device {name!r}. TensorFlow sees {known} here, and one of them "
        "was expected. Correct the name, or create more devices with "
        "tf.config.set_logical_device_configuration() at the start of the program."
    )
