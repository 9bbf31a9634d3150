"""Puts shares on the devices of their replicas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from tfdist.input.workers import device_type
from tfdist.tf_internals import datasets
from tfdist.values import PerReplica

# What no accelerator can hold.
_HOST_DTYPES = frozenset({tf.string, tf.variant, tf.resource})


def place_element(element: Any, devices: Sequence[str], host: str) -> Any:
    """Puts each share of an element on its device; with one device, the element itself.

    Args:
        element: What an iterator on ``host`` gave.
        devices: One device a replica.
        host: Where the tensors are now.
    """
    if tuple(devices) == (host,):
        return element
    if len(devices) == 1:
        return place_share(element, devices[0])
    return tf.nest.map_structure(
        lambda leaf: _place_leaf(leaf, devices) if isinstance(leaf, PerReplica) else leaf, element
    )


def place_share(share: Any, device: str) -> Any:
    """Puts every tensor of a structure on ``device``."""
    return tf.nest.map_structure(
        lambda x: None if x is None else _place_tensor(x, device), share, expand_composites=True
    )


def _place_leaf(leaf: PerReplica, devices: Sequence[str]) -> PerReplica:
    pairs = zip(leaf.values, devices, strict=True)
    return PerReplica([_place_value(value, device) for value, device in pairs])


def _place_value(value: Any, device: str) -> Any:
    return (
        _place_tensor(value, device) if isinstance(value, tf.Tensor) else place_share(value, device)
    )


def _place_tensor(tensor: Any, device: str) -> Any:
    on_cpu = device_type(device) == "CPU"
    if tensor.dtype in _HOST_DTYPES and not on_cpu:
        return tensor
    if tf.executing_eagerly():
        if tensor.device == device:
            return tensor
        if on_cpu:
            return datasets.copy_eagerly(tensor, device)
    with tf.device(device):
        return tf.identity(tensor)
