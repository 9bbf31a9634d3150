"""What a replica gets when there is no data left for it: a batch of no rows."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def relaxed(element_spec: Any) -> Any:
    """The element spec with the first dimension of each part unknown, so that it may be 0."""
    return tf.nest.map_structure(_relaxed_leaf, element_spec)


def can_be_empty(element_spec: Any) -> bool:
    """Whether each part of an element has a batch dimension, so that an empty one exists."""
    return all(_leaf_can_be_empty(spec) for spec in tf.nest.flatten(element_spec))


def empty_value(element_spec: Any) -> Any:
    """An element of no rows: first dimension 0, and 0 for each other unknown one."""
    return tf.nest.map_structure(_empty_leaf, element_spec)


def is_none(spec: Any) -> bool:
    """Whether a spec is that of None."""
    return spec is None or type(spec).__name__ == "NoneTensorSpec"


def _leaf_can_be_empty(spec: Any) -> bool:
    if is_none(spec):
        return True
    if isinstance(spec, (tf.RaggedTensorSpec, tf.SparseTensorSpec, tf.TensorSpec)):
        return bool(spec.shape.rank is None or spec.shape.rank > 0) and spec.dtype != tf.variant
    parts = tf.nest.flatten(spec, expand_composites=True)
    return bool(parts) and all(
        isinstance(part, tf.TensorSpec) and _leaf_can_be_empty(part) for part in parts
    )


def _relaxed_leaf(spec: Any) -> Any:
    if is_none(spec) or not _leaf_can_be_empty(spec):
        return spec
    shape = getattr(spec, "shape", None)
    if shape is not None and shape.rank is None:
        return spec
    return spec._unbatch()._batch(None)


def _empty_leaf(spec: Any) -> Any:
    if is_none(spec):
        return None
    if isinstance(spec, tf.RaggedTensorSpec):
        return _empty_ragged(spec)
    if isinstance(spec, tf.SparseTensorSpec):
        dims = _empty_dims(spec.shape)
        return tf.SparseTensor(tf.zeros([0, len(dims)], tf.int64), tf.zeros([0], spec.dtype), dims)
    if isinstance(spec, tf.TensorSpec):
        return tf.zeros(_empty_dims(spec.shape), spec.dtype)
    parts = [_empty_leaf(part) for part in tf.nest.flatten(spec, expand_composites=True)]
    return tf.nest.pack_sequence_as(spec, parts, expand_composites=True)


def _empty_ragged(spec: tf.RaggedTensorSpec) -> Any:
    inner = spec.shape[spec.ragged_rank + 1 :] if spec.shape.rank is not None else []
    value = tf.zeros([0, *(dim or 0 for dim in inner)], spec.dtype)
    splits = [tf.zeros([1], spec.row_splits_dtype)] * spec.ragged_rank
    return tf.RaggedTensor.from_nested_row_splits(value, splits, validate=False)


def _empty_dims(shape: tf.TensorShape) -> list[int]:
    return [0, *(dim or 0 for dim in shape[1:])] if shape.rank is not None else [0]
