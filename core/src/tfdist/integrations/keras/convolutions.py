"""Convolutions of an empty share.

TensorFlow's convolutions on CPUs (oneDNN, seen in 2.21) give the outputs of no examples the shape
of the inputs, so what follows fails or goes on with wrong shapes. A replica without examples
therefore convolves one row of zeros and cuts it off again; it adds nothing to outputs or gradients.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from keras.src.backend.tensorflow import nn

from tfdist.integrations.keras import active
from tfdist.integrations.keras.patching import around


def install() -> None:
    """Goes around the convolutions of the backend; the transposed ones are right as they are."""
    for name in ("conv", "depthwise_conv", "separable_conv"):
        around(nn, name, _convolve)


def _convolve(original: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
    context = active.several_replicas()
    if context is None or not _may_be_empty(inputs) or not _on_cpu(context):
        return original(inputs, *args, **kwargs)
    rows = tf.shape(inputs)[0]
    return original(_at_least_one_row(inputs, rows), *args, **kwargs)[:rows]


def _may_be_empty(inputs: Any) -> bool:
    return bool(tf.is_tensor(inputs) and inputs.shape.rank and not inputs.shape[0])


def _on_cpu(context: tf.distribute.ReplicaContext) -> bool:
    return all(tf.DeviceSpec.from_string(name).device_type == "CPU" for name in context.devices)


def _at_least_one_row(inputs: tf.Tensor, rows: tf.Tensor) -> tf.Tensor:
    missing = tf.cast(tf.equal(rows, 0), rows.dtype)
    padding = tf.zeros(tf.concat([[missing], tf.shape(inputs)[1:]], axis=0), inputs.dtype)
    padding.set_shape([None, *inputs.shape[1:]])
    return tf.concat([inputs, padding], axis=0)
