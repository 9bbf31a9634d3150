"""Virtual devices, so that every example runs on a machine without accelerators."""

from __future__ import annotations

import tensorflow as tf

from tfdist.testing import cpu_device_names, set_virtual_cpu_devices


def virtual_cpus(count: int) -> list[str]:
    """The names of ``count`` virtual CPU devices, made if this process has fewer.

    TensorFlow fixes its devices when it first computes, so call this before anything else.

    Args:
        count: How many devices to have, at least 1.

    Returns:
        Device names as a strategy takes them: ``["CPU:0", "CPU:1", ...]``.

    Raises:
        tfdist.errors.DeviceError: TensorFlow has already started with fewer devices.
    """
    host = tf.config.list_physical_devices("CPU")[0]
    configured = tf.config.get_logical_device_configuration(host) or [None]
    if len(configured) < count:
        set_virtual_cpu_devices(count)
    return cpu_device_names(count)
