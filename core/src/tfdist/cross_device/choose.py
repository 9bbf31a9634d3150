"""From what a user asked for to the cross-device ops of a strategy."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from tfdist.cross_device.adapted import adapted
from tfdist.cross_device.base import CrossDeviceOps
from tfdist.cross_device.reduction_to_one_device import ReductionToOneDevice
from tfdist.errors import OptionError, UnknownNameError
from tfdist.tf_internals import kernels

logger = logging.getLogger(__name__)

# TensorFlow's own implementations and the names of ours that do the same.
_EQUIVALENTS = {
    "NcclAllReduce": "nccl",
    "HierarchicalCopyAllReduce": "hierarchical_copy",
    "ReductionToOneDevice": "reduction_to_one_device",
}


def resolve_cross_device_ops(asked: Any, devices: Sequence[str]) -> CrossDeviceOps:
    """The cross-device ops for a strategy on some devices.

    Args:
        asked: A name, with options as a query (``"hierarchical_copy?num_packs=2"``); ``"auto"`` or
            None for what fits the devices best; an object of ``tfdist``'s or of a user's own
            subclass of ``tf.distribute.CrossDeviceOps``.
        devices: Canonical names, one a replica.

    Raises:
        UnknownNameError: Nobody offers the name.
        OptionError: It is none of these, or one of TensorFlow's own implementations.
        UnavailableError: It cannot serve these devices.
    """
    if asked is None or asked == "auto":
        return _automatic(devices)
    ops = _by_name(asked) if isinstance(asked, str) else _as_ours(asked)
    ops.check_devices(devices)
    return ops


def missing_for_nccl(devices: Sequence[str]) -> str | None:
    """What NCCL lacks to serve devices, as a clause of a sentence; None if nothing."""
    types = sorted({tf.DeviceSpec.from_string(d).device_type or "?" for d in devices})
    if types != ["GPU"]:
        return f"the devices are of type {', '.join(types)}"
    if not kernels.has_kernel("NcclAllReduce", "GPU"):
        return "this build of TensorFlow has no NCCL"
    physical, logical = (
        len(tf.config.list_physical_devices("GPU")),
        len(tf.config.list_logical_devices("GPU")),
    )
    if physical != logical or len(set(devices)) != len(devices):
        return f"{physical} GPUs are shared by {logical} logical devices"
    return None


def _automatic(devices: Sequence[str]) -> CrossDeviceOps:
    name = _automatic_name(devices)
    try:
        ops = ReductionToOneDevice() if name == "reduction_to_one_device" else _by_name(name)
    except UnknownNameError:
        # The plugin that brings the faster one isn't installed; the built-in always works.
        logger.info("cross-device ops %s would fit, but no installed plugin offers it", name)
        name, ops = "reduction_to_one_device", ReductionToOneDevice()
    logger.info("cross-device ops: auto chose %s for %s", name, ", ".join(devices))
    return ops


def _automatic_name(devices: Sequence[str]) -> str:
    accelerators = [d for d in devices if tf.DeviceSpec.from_string(d).device_type != "CPU"]
    if len(devices) < 2 or len(accelerators) < len(devices):
        return "reduction_to_one_device"
    return "hierarchical_copy" if missing_for_nccl(devices) else "nccl"


def _by_name(name: str) -> CrossDeviceOps:
    # Here and not above: looking up names is of no use to those who bring an object.
    from tfdist import selection

    ops = selection.cross_device_ops(name)
    if not isinstance(ops, CrossDeviceOps):
        raise OptionError(
            f"Cannot use {name!r} as the cross-device ops of one process. It gave a "
            f"{type(ops).__name__}, and a tfdist.cross_device.CrossDeviceOps was expected. Choose "
            "one of kind 'graph'; `tfdist plugins` lists what is installed."
        )
    return ops


def _as_ours(asked: Any) -> CrossDeviceOps:
    if isinstance(asked, CrossDeviceOps):
        return asked
    for name, ours in _EQUIVALENTS.items():
        if isinstance(asked, getattr(tf.distribute, name)):
            raise OptionError(
                f"Cannot use a {type(asked).__name__} of TensorFlow as cross-device ops. tfdist "
                "runs its own implementations, and a name or an object of tfdist was expected. "
                f"Pass cross_device_ops={ours!r}."
            )
    if isinstance(asked, tf.distribute.CrossDeviceOps):
        return adapted(asked)
    raise OptionError(
        f"Cannot use cross_device_ops={asked!r}. A name, None or an instance of "
        f"tfdist.cross_device.CrossDeviceOps was expected, and this is a {type(asked).__name__}. "
        "Pass for example 'auto', 'reduction_to_one_device' or 'hierarchical_copy'."
    )
