"""The arithmetic of a split: which rows of a batch each replica gets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tfdist.input.empty import is_none
from tfdist.input.errors import UnsplittableError
from tfdist.values import PerReplica, PerReplicaSpec

_SliceRows = Callable[[Any, Any], Any]


def share_sizes(row_count: int, replica_count: int) -> list[int]:
    """Rows for each replica, in order: the same for all, until the rows run out.

    Args:
        row_count: Rows of the batch.
        replica_count: Replicas that share it.
    """
    chunk = -(-row_count // replica_count)
    return [min(max(row_count - i * chunk, 0), chunk) for i in range(replica_count)]


def split_element(element: Any, replica_count: int) -> Any:
    """Splits each leaf of one dataset element along its first dimension.

    Args:
        element: A structure of tensors, ragged or sparse tensors or other batched composites, of
            one row count. None stays None.
        replica_count: How many shares to make.

    Returns:
        The structure with a ``PerReplica`` of ``replica_count`` shares in place of each leaf.
    """
    leaves = [leaf for leaf in tf.nest.flatten(element) if leaf is not None]
    sizes = _sizes_of(leaves[0], replica_count) if leaves else None
    return tf.nest.map_structure(
        lambda leaf: None if leaf is None else PerReplica(_split_leaf(leaf, sizes, replica_count)),
        element,
    )


def split_spec(element_spec: Any, replica_count: int) -> Any:
    """The spec of what ``split_element`` makes of an element of ``element_spec``.

    All shares have one spec: the first dimension is that of an equal share, or unknown.
    """

    def per_replica(spec: Any) -> Any:
        if is_none(spec):
            return spec
        return PerReplicaSpec(*[_share_spec(spec, replica_count)] * replica_count)

    return tf.nest.map_structure(per_replica, element_spec)


def check_splittable(element_spec: Any, replica_count: int) -> None:
    """Raises where an element of ``element_spec`` cannot be split along its first dimension."""
    specs = tf.nest.flatten(element_spec)
    bad = next((spec for spec in specs if not _has_rows(spec)), None)
    if bad is not None:
        raise UnsplittableError(
            f"Cannot split the elements of this dataset over {replica_count} replicas. "
            f"The element {element_spec} has {bad} in it, which has no batch dimension, and a "
            "global batch is split along the first dimension of every part. "
            "Call dataset.batch(global_batch_size) before you distribute it."
        )
    known = {rows for rows in map(_static_rows, specs) if rows is not None}
    if len(known) > 1:
        raise UnsplittableError(
            f"Cannot split the elements of this dataset over {replica_count} replicas. Its parts "
            f"have {' and '.join(map(str, sorted(known, reverse=True)))} rows in {element_spec}, "
            "and one batch size was expected. Batch all parts together: dataset.batch(size)."
        )


def _has_rows(spec: Any) -> bool:
    shape = getattr(spec, "shape", None)
    unbatched = (tf.data.DatasetSpec, tf.OptionalSpec, tf.TensorArraySpec)
    return not isinstance(spec, unbatched) and not (shape is not None and shape.rank == 0)


def _static_rows(spec: Any) -> int | None:
    shape = getattr(spec, "shape", None)
    return shape[0] if shape is not None and shape.rank else None


def _share_spec(spec: Any, replica_count: int) -> Any:
    shape = getattr(spec, "shape", None)
    if shape is not None and shape.rank is None:
        return spec
    return spec._unbatch()._batch(_share_dim(_static_rows(spec), replica_count))


def _row_count(leaf: Any) -> Any:
    """The rows of a leaf: a Python int where they are known, else a scalar int32 tensor."""
    if isinstance(leaf, tf.RaggedTensor):
        static = leaf.shape[0] if leaf.shape.rank else None
        return static if static is not None else tf.cast(leaf.nrows(), tf.int32)
    if isinstance(leaf, tf.SparseTensor):
        static = leaf.shape[0] if leaf.shape.rank else None
        return static if static is not None else tf.cast(leaf.dense_shape[0], tf.int32)
    tensor = leaf if tf.is_tensor(leaf) and not _is_composite(leaf) else _components(leaf)[0]
    static = tensor.shape[0] if tensor.shape.rank else None
    return static if static is not None else tf.shape(tensor)[0]


def _sizes_of(leaf: Any, replica_count: int) -> Any:
    rows = _row_count(leaf)
    if isinstance(rows, int):
        return tf.constant(share_sizes(rows, replica_count), tf.int32)
    chunk = -(-rows // replica_count)
    return tf.clip_by_value(rows - chunk * tf.range(replica_count), 0, chunk)


def _split_leaf(leaf: Any, sizes: Any, replica_count: int) -> list[Any]:
    if isinstance(leaf, tf.RaggedTensor):
        return _slice_leaf(leaf, sizes, replica_count, lambda x, ab: x[ab[0] : ab[1]])
    if isinstance(leaf, tf.SparseTensor):
        return _slice_leaf(leaf, sizes, replica_count, _slice_sparse)
    if _is_composite(leaf):
        return _split_composite(leaf, sizes, replica_count)
    return _split_tensor(leaf, sizes, replica_count)


def _split_tensor(tensor: Any, sizes: Any, replica_count: int) -> list[Any]:
    # SplitV hands out views of the batch where they are aligned, and refuses sizes that do not add
    # up to the rows, so that leaves of different length cannot come apart unnoticed.
    return list(tf.split(tensor, sizes, axis=0, num=replica_count))


def _share_dim(rows: int | None, replica_count: int) -> int | None:
    return rows // replica_count if rows is not None and rows % replica_count == 0 else None


def _slice_leaf(leaf: Any, sizes: Any, replica_count: int, cut: _SliceRows) -> list[Any]:
    rows = leaf.nrows() if isinstance(leaf, tf.RaggedTensor) else leaf.dense_shape[0]
    ends = tf.cast(tf.cumsum(sizes), tf.int64)
    check = tf.debugging.assert_equal(
        tf.cast(rows, tf.int64), ends[-1], "All parts of an element must have one batch size."
    )
    with tf.control_dependencies([check] if check is not None else []):
        starts = ends - tf.cast(sizes, tf.int64)
    return [cut(leaf, (starts[i], ends[i])) for i in range(replica_count)]


def _slice_sparse(leaf: tf.SparseTensor, bounds: tuple[Any, Any]) -> tf.SparseTensor:
    start, end = bounds
    inside = tf.logical_and(leaf.indices[:, 0] >= start, leaf.indices[:, 0] < end)
    rank = tf.shape(leaf.dense_shape)[0]
    offset = tf.concat([[start], tf.zeros([rank - 1], tf.int64)], 0)
    indices = tf.boolean_mask(leaf.indices, inside) - offset
    shape = tf.concat([[end - start], leaf.dense_shape[1:]], 0)
    return tf.SparseTensor(indices, tf.boolean_mask(leaf.values, inside), shape)


def _split_composite(leaf: Any, sizes: Any, replica_count: int) -> list[Any]:
    spec = tf.type_spec_from_value(leaf)
    spec = spec._unbatch()._batch(_share_dim(_static_rows(spec), replica_count))
    parts = [_split_tensor(c, sizes, replica_count) for c in _components(leaf)]
    return [
        tf.nest.pack_sequence_as(spec, list(share), expand_composites=True)
        for share in zip(*parts, strict=True)
    ]


def _components(leaf: Any) -> list[Any]:
    return list(tf.nest.flatten(leaf, expand_composites=True))


def _is_composite(leaf: Any) -> bool:
    return isinstance(leaf, tf.__internal__.CompositeTensor)
