"""``tf.IndexedSlices`` of several replicas: gathered, never made dense."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from tfdist.errors import ValueMismatchError


def is_sparse(value: Any) -> bool:
    """Whether a value of one replica is ``tf.IndexedSlices``."""
    return isinstance(value, tf.IndexedSlices)


def add_slices(values: Sequence[Any]) -> tf.IndexedSlices:
    """The sum of slices: all their rows one after the other, repeated indices kept.

    Args:
        values: ``tf.IndexedSlices``, and dense tensors of rank 1 or more, which count as slices of
            all their rows. One dtype; equal shapes from the second dimension on.

    Returns:
        Slices with the rows in the order of ``values``. ``dense_shape`` is the first that is known.
    """
    slices = [value if is_sparse(value) else _as_slices(value) for value in values]
    index_dtype = slices[0].indices.dtype
    if any(each.indices.dtype != index_dtype for each in slices):
        index_dtype = tf.int64
    return tf.IndexedSlices(
        values=tf.concat([each.values for each in slices], axis=0),
        indices=tf.concat([tf.cast(each.indices, index_dtype) for each in slices], axis=0),
        dense_shape=next((s.dense_shape for s in slices if s.dense_shape is not None), None),
    )


def divide_slices(value: tf.IndexedSlices, count: int) -> tf.IndexedSlices:
    """Slices with each value divided by a number; indices and dense shape stay."""
    return tf.IndexedSlices(value.values / count, value.indices, value.dense_shape)


def _as_slices(value: tf.Tensor) -> tf.IndexedSlices:
    if value.shape.rank == 0:
        raise ValueMismatchError(
            "Cannot add a scalar to tf.IndexedSlices. A dense value beside sparse ones needs rows, "
            "so rank 1 or more was expected. Return slices, or values of one shape, everywhere."
        )
    shape = tf.shape(value, out_type=tf.int64)
    return tf.IndexedSlices(value, tf.range(shape[0]), shape)
