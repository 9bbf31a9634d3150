"""Copies of one value on the devices that asked for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from tfdist.cross_device.destinations import components_of, device_of, on_device
from tfdist.values import Mirrored


def copy_to(value: Any, device: str) -> Any:
    """A copy of a tensor or composite tensor on a device.

    Args:
        value: A tensor, or a composite one such as ``tf.IndexedSlices``; any shape and dtype.
        device: A canonical name; empty to leave the place to TensorFlow.
    """
    with on_device(device):
        return tf.nest.map_structure(tf.identity, value, expand_composites=True)


def share(value: Any, devices: Sequence[str]) -> Any:
    """A value on each of some devices: ``Mirrored``, or the plain copy for one device.

    *Cost*: one copy of the value a device that isn't its own. *Runs on*: the process that calls.
    """
    return mirrored([copy_to(value, device) for device in devices])


def mirrored(copies: Sequence[Any]) -> Any:
    """``Mirrored`` over copies of one value; the copy itself where there is one only."""
    return copies[0] if len(copies) == 1 else Mirrored(copies)


def nearest(value: Any, device: str) -> Any:
    """What to copy from: the component that is on the device already, else the first one."""
    components = components_of(value)
    if components is None:
        return value
    return next((each for each in components if device_of(each) == device), components[0])
