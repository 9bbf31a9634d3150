"""Sum and mean of the values of several replicas, on the current device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from tfdist.cross_device.sparse import add_slices, divide_slices, is_sparse
from tfdist.errors import ValueMismatchError

Accumulation = Callable[[Sequence[Any]], Any]


def add_in_order(values: Sequence[tf.Tensor]) -> tf.Tensor:
    """The sum of dense tensors, always added in the order given, so that the bits are the same.

    ``tf.add_n`` alone gives no such promise: its kernel starts with whichever input's buffer it can
    reuse, and graph optimization joins a chain of additions into one ``AddN``.

    Raises:
        ValueMismatchError: The dtype has no sum (bool, string, ...).
    """
    dtype = values[0].dtype
    if dtype in (tf.bool, tf.string, tf.resource):
        raise ValueMismatchError(
            f"Cannot reduce values of dtype {dtype.name} over {len(values)} replicas. A sum or "
            "mean needs a numeric dtype. Cast the value to a number first, or collect all values "
            "with strategy.gather() or strategy.experimental_local_results()."
        )
    total, *rest = values
    if not rest or dtype.is_integer or dtype == tf.variant:
        return tf.add_n(list(values))
    for value in rest[:-1]:
        total = tf.add_n([total, value])
        # An op that the optimizer leaves alone and that costs nothing keeps the additions apart.
        total = tf.ensure_shape(total, total.shape)
    return tf.add_n([total, rest[-1]])


def combine(
    reduce_op: tf.distribute.ReduceOp,
    values: Sequence[Any],
    accumulate: Accumulation = add_in_order,
) -> Any:
    """The sum or mean of one value a replica.

    Args:
        reduce_op: ``SUM`` or ``MEAN``.
        values: Dense tensors of one shape and dtype, or ``tf.IndexedSlices``, or a mix of them
            (then the result is ``tf.IndexedSlices``).
        accumulate: What adds dense tensors.

    Returns:
        The result, of the dtype of the values; the mean of integers is floating, as everywhere in
        TensorFlow (float32 for 8 and 16 bits, float64 above).
    """
    total = add_slices(values) if any(map(is_sparse, values)) else accumulate(values)
    return mean_of_sum(total, len(values)) if reduce_op == tf.distribute.ReduceOp.MEAN else total


def mean_of_sum(total: Any, count: int) -> Any:
    """A sum divided by how many values it has."""
    return divide_slices(total, count) if is_sparse(total) else total / count
