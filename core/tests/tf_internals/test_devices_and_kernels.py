"""What cross-device ops need of TensorFlow's insides is there and does that."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from tfdist.tf_internals import kernels, type_specs


def test_has_kernel() -> None:
    assert kernels.has_kernel("AddN", "CPU")
    assert not kernels.has_kernel("NcclAllReduce", "CPU")


def test_resolve_device_fills_in_what_is_missing(cpu_devices: Any) -> None:
    names = cpu_devices(2)
    full = [f"/job:localhost/replica:0/task:0/device:{name}" for name in ("CPU:0", "CPU:1")]
    assert [type_specs.resolve_device(name) for name in names] == full
    with tf.device(names[0]):
        assert type_specs.resolve_device(names[1]) == full[1]
        assert type_specs.current_device() == full[0]
