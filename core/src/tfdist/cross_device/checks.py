"""What the operations take: checked before any op is made."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow as tf

from tfdist.cross_device.destinations import components_of, on_device
from tfdist.cross_device.sparse import is_sparse
from tfdist.errors import OptionError, ValueMismatchError
from tfdist.values import PerReplica


class ShapeMismatchError(ValueMismatchError, tf.errors.InvalidArgumentError):
    """Values of the replicas have shapes that do not fit; also what TensorFlow's kernels raise."""

    def __init__(self, message: str) -> None:
        tf.errors.InvalidArgumentError.__init__(self, None, None, message)


def as_per_replica(value: Any) -> PerReplica:
    """A value as ``PerReplica`` of tensors (variables are read); a plain one has one component.

    Raises:
        ValueMismatchError: It, or one of its components, is no tensor and cannot become one.
    """
    components = components_of(value)
    return PerReplica(
        [as_tensor(each) for each in ((value,) if components is None else components)]
    )


def as_tensor(value: Any) -> Any:
    """A tensor or composite tensor as it is, a variable's value, or a converted number or array."""
    if isinstance(value, tf.Variable):
        with on_device(value.device):
            return tf.convert_to_tensor(value)
    if tf.is_tensor(value):
        return value
    try:
        return tf.convert_to_tensor(value)
    except (TypeError, ValueError) as error:
        raise ValueMismatchError(
            f"Cannot send {value!r} between devices. A distributed value, a tensor or what becomes "
            f"one was expected, and this is a {type(value).__name__}. Pass each leaf of a nested "
            "structure on its own."
        ) from error


def as_pairs(value_destination_pairs: Any) -> list[tuple[Any, Any]]:
    """A list of (value, destinations).

    Raises:
        OptionError: It is not an iterable of pairs.
    """
    pairs = list(value_destination_pairs) if isinstance(value_destination_pairs, Iterable) else None
    if pairs is None or any(not isinstance(p, (tuple, list)) or len(p) != 2 for p in pairs):
        raise OptionError(
            "Cannot reduce or gather a batch. value_destination_pairs is "
            f"{value_destination_pairs!r}, and a list of (value, destinations) was expected. "
            "Pass for example [(gradient, variable), ...]."
        )
    return [(value, destinations) for value, destinations in pairs]


def as_options(options: Any) -> Any:
    """``CommunicationOptions``, the defaults for None.

    Raises:
        OptionError: It is something else.
    """
    if options is None:
        return tf.distribute.experimental.CommunicationOptions()
    if not isinstance(getattr(options, "bytes_per_pack", None), int):
        raise OptionError(
            f"Cannot communicate with options={options!r}. "
            "tf.distribute.experimental.CommunicationOptions was expected, and this is a "
            f"{type(options).__name__}. Pass tf.distribute.experimental.CommunicationOptions(...)."
        )
    return options


def check_reducible(values: Sequence[Any]) -> None:
    """Checks that one value a replica can be summed.

    Raises:
        ValueMismatchError: A value is neither dense nor ``tf.IndexedSlices``; dtypes or shapes
            differ.
    """
    for i, value in enumerate(values):
        if not isinstance(value, (tf.Tensor, tf.IndexedSlices)):
            raise ValueMismatchError(
                f"Cannot reduce a {type(value).__name__} (replica {i}). Dense tensors or "
                "tf.IndexedSlices were expected. Make it dense first, or use strategy.gather()."
            )
    _check_dtypes(values, "reduce")
    rows = any(map(is_sparse, values))
    shapes = [_row_shape(v) if rows else v.shape for v in values]
    for i, shape in enumerate(shapes[1:], 1):
        if not shape.is_compatible_with(shapes[0]):
            what = "rows of shape" if rows else "shape"
            raise ShapeMismatchError(
                f"Cannot reduce the values of {len(values)} replicas. Replica 0 has {what} "
                f"{shapes[0]}, replica {i} has {shape}, and all must have the same. Return values "
                "of one shape, or use strategy.gather()."
            )


def check_gatherable(values: Sequence[Any], axis: Any) -> None:
    """Checks that one value a replica can be concatenated along an axis.

    Raises:
        ValueMismatchError: A value is ``tf.IndexedSlices``, or kinds, dtypes or shapes differ.
        OptionError: The axis is out of range.
    """
    first = values[0]
    for i, value in enumerate(values):
        if is_sparse(value):
            raise ValueMismatchError(
                f"Cannot gather the value of replica {i}: gather does not support IndexedSlices. "
                "A dense, sparse or ragged tensor was expected. Gather its values and its indices, "
                "or convert it with tf.convert_to_tensor()."
            )
        if _kind(value) is not _kind(first):
            raise ValueMismatchError(
                f"Cannot gather the values of {len(values)} replicas. Replica 0 has a "
                f"{_kind(first).__name__}, replica {i} a {_kind(value).__name__}, and one kind was "
                "expected. Return the same kind of tensor on all replicas."
            )
    _check_dtypes(values, "gather")
    _check_ranks(values)
    _check_axis(first.shape.rank, axis)
    if isinstance(first, (tf.Tensor, tf.SparseTensor)) and isinstance(axis, numbers.Integral):
        _check_other_dimensions(values, int(axis))


def _check_ranks(values: Sequence[Any]) -> None:
    ranks = [v.shape.rank for v in values]
    for i, rank in enumerate(ranks):
        if rank == 0:
            raise ShapeMismatchError(
                f"Cannot gather a scalar (replica {i}): there is no axis to concatenate along, and "
                "rank 1 or more was expected. Give it an axis with tf.expand_dims(value, 0)."
            )
        if rank is not None and ranks[0] is not None and rank != ranks[0]:
            raise ShapeMismatchError(
                f"Cannot gather the values of {len(values)} replicas. Ranks of all input tensors "
                f"should match: Shape must be rank {ranks[0]} but is rank {rank} on replica {i}. "
                "Return values of one rank on all replicas."
            )


def _check_axis(rank: int | None, axis: Any) -> None:
    if isinstance(axis, bool) or not (isinstance(axis, numbers.Integral) or tf.is_tensor(axis)):
        raise OptionError(
            f"Cannot gather along axis={axis!r}. An integer was expected, and this is a "
            f"{type(axis).__name__}. Pass the number of a dimension."
        )
    if rank is not None and isinstance(axis, numbers.Integral) and not -rank <= int(axis) < rank:
        raise OptionError(
            f"Cannot gather along axis={axis}. The values have rank {rank}, and an axis from "
            f"{-rank} to {rank - 1} was expected. Choose one of those."
        )


def _check_other_dimensions(values: Sequence[Any], axis: int) -> None:
    first = values[0].shape
    if first.rank is None:
        return
    for i, value in enumerate(values[1:], 1):
        for dim in range(first.rank):
            sizes = (first[dim], value.shape[dim] if value.shape.rank else None)
            if dim != axis % first.rank and None not in sizes and sizes[0] != sizes[1]:
                raise ShapeMismatchError(
                    f"Cannot gather the values of {len(values)} replicas along axis {axis}. "
                    f"Dimension {dim} in both shapes must be equal, but replica 0 has {first} and "
                    f"replica {i} has {value.shape}. Pad the values, or choose another axis."
                )


def _check_dtypes(values: Sequence[Any], verb: str) -> None:
    first = values[0].dtype
    for i, value in enumerate(values[1:], 1):
        if value.dtype != first:
            raise ShapeMismatchError(
                f"Cannot {verb} the values of {len(values)} replicas. Replica 0 has dtype "
                f"{first.name}, replica {i} has {value.dtype.name}, and one dtype was expected. "
                "Cast them to the same."
            )


def _row_shape(value: Any) -> tf.TensorShape:
    shape = value.values.shape if is_sparse(value) else value.shape
    return shape if shape.rank is None else shape[1:]


def _kind(value: Any) -> type:
    return tf.Tensor if isinstance(value, tf.Tensor) else type(value)
