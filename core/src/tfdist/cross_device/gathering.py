"""Values of several replicas one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from tfdist.cross_device.destinations import on_device


def concatenate(values: Sequence[Any], axis: Any, device: str) -> Any:
    """Dense, ragged or sparse tensors of one kind, concatenated on a device.

    Args:
        values: One tensor a replica, in order; sizes differ along ``axis`` only.
        axis: The dimension.
        device: A canonical name; empty to leave the place to TensorFlow.
    """
    with on_device(device):
        if isinstance(values[0], tf.SparseTensor):
            return tf.sparse.concat(axis, list(values))
        return tf.concat(list(values), axis)
