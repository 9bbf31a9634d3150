"""Values on devices, for the tests of cross-device ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from tfdist.values import Mirrored, PerReplica


def on_devices(parts: Sequence[Any], devices: Sequence[str]) -> PerReplica:
    """One part a device."""
    values = []
    for part, device in zip(parts, devices, strict=True):
        with tf.device(device):
            part = part if tf.is_tensor(part) else tf.constant(part)
            values.append(tf.nest.map_structure(tf.identity, part, expand_composites=True))
    return PerReplica(values)


def device_names(value: Any) -> tuple[str, ...]:
    """The devices of a result, as TensorFlow names them."""
    return tuple(v.device for v in value.values) if isinstance(value, Mirrored) else (value.device,)
