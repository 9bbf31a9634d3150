"""Which devices a strategy uses: checked and spelt in full before anything is made on them."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from tfdist.errors import DeviceError
from tfdist.tf_internals.type_specs import canonicalize_device


def default_devices() -> list[str]:
    """All GPUs of this host, or its first CPU."""
    gpus = tf.config.list_logical_devices("GPU")
    return [device.name for device in gpus] or ["CPU:0"]


def check_devices(devices: Sequence[str], option: str = "devices") -> tuple[str, ...]:
    """Full names of the devices, in the given order.

    Args:
        devices: Names such as ``"GPU:0"`` or ``"/device:CPU:1"``.
        option: The option they came by, for errors.

    Raises:
        DeviceError: One does not exist or repeats, they are of several types, or there is none.
    """
    if isinstance(devices, str) or not devices:
        raise DeviceError(
            f"Cannot use {option}={devices!r}. A non-empty list of device names was expected. "
            f"Pass for example {option}=['CPU:0', 'CPU:1']."
        )
    names = tuple(check_device(device, option) for device in devices)
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise DeviceError(
            f"Cannot use {option}={list(devices)!r}. Each device must be given once, and "
            f"{repeated} repeat. Remove the repetition."
        )
    types = sorted({tf.DeviceSpec.from_string(name).device_type for name in names})
    if len(types) > 1:
        raise DeviceError(
            f"Cannot use {option}={list(devices)!r}. Devices of one type were expected, and these "
            f"are of types {types}. Pass devices of one type."
        )
    return names


def check_device(device: str, option: str = "device") -> str:
    """The full name of one device.

    Raises:
        DeviceError: It is not the name of a device of this process.
    """
    there = [canonicalize_device(d.name) for d in tf.config.list_logical_devices()]
    try:
        name = canonicalize_device(device)
    except (ValueError, TypeError, AttributeError) as error:
        raise DeviceError(
            f"Cannot use {option}={device!r}. A device name such as 'CPU:0' was expected: {error}. "
            f"Pass one of {there}."
        ) from error
    if name not in there:
        raise DeviceError(
            f"Cannot use {option}={device!r}. There is no such device: this process has {there}. "
            "Pass one of those; tf.config.set_logical_device_configuration() makes virtual ones."
        )
    return name
