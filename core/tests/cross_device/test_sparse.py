"""``tf.IndexedSlices`` are gathered, not made dense."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from tfdist.cross_device import ReductionToOneDevice, devices_of
from tfdist.errors import ValueMismatchError
from tfdist.values import PerReplica

from .helpers import on_devices


def slices(
    rows: Any,
    indices: Sequence[int],
    dense_shape: Any = None,
    index_dtype: Any = tf.int64,
) -> tf.IndexedSlices:
    shape = None if dense_shape is None else tf.constant(dense_shape, tf.int64)
    return tf.IndexedSlices(tf.constant(rows), tf.constant(indices, index_dtype), shape)


def dense(value: tf.IndexedSlices) -> np.ndarray:
    return tf.convert_to_tensor(value).numpy()


@pytest.mark.parametrize("in_function", [False, True])
@pytest.mark.parametrize(("reduce_op", "count"), [("SUM", 1), ("MEAN", 2)])
def test_rows_follow_each_other(
    cpu_devices: Any, reduce_op: str, count: int, in_function: bool
) -> None:
    names = cpu_devices(2)

    def step() -> Any:
        parts = [
            slices([[1.0, 2.0]], [1], [4, 2]),
            slices([[3.0, 4.0], [5.0, 6.0]], [1, 3], [4, 2]),
        ]
        value = on_devices(parts, names)
        return ReductionToOneDevice().reduce(reduce_op, value, value).values

    results = tf.function(step)() if in_function else step()
    for result, name in zip(results, names, strict=True):
        assert isinstance(result, tf.IndexedSlices)
        assert result.indices.numpy().tolist() == [1, 1, 3]
        assert result.dense_shape.numpy().tolist() == [4, 2]
        np.testing.assert_array_equal(dense(result) * count, [[0, 0], [4, 6], [0, 0], [5, 6]])
        if not in_function:
            assert result.values.device == devices_of(name)[0]


def test_dense_shape_is_the_first_known(cpu_devices: Any) -> None:
    ops, to = ReductionToOneDevice(), cpu_devices(1)
    unknown = PerReplica([slices([[1.0]], [0]), slices([[2.0]], [1])])
    assert ops.reduce("SUM", unknown, to).dense_shape is None
    known = PerReplica([slices([[1.0]], [0]), slices([[2.0]], [1], [3, 1])])
    assert ops.reduce("SUM", known, to).dense_shape.numpy().tolist() == [3, 1]


@pytest.mark.parametrize("sparse_first", [False, True])
def test_dense_beside_sparse(cpu_devices: Any, sparse_first: bool) -> None:
    parts = [slices([[1.0, 2.0]], [1], [3, 2]), tf.ones([3, 2])]
    value = PerReplica(parts if sparse_first else parts[::-1])
    result = ReductionToOneDevice().reduce("MEAN", value, cpu_devices(1))
    assert isinstance(result, tf.IndexedSlices)
    np.testing.assert_array_equal(dense(result), [[0.5, 0.5], [1, 1.5], [0.5, 0.5]])


def test_indices_of_two_dtypes(cpu_devices: Any) -> None:
    value = PerReplica([slices([1.0], [0], index_dtype=tf.int32), slices([2.0], [2])])
    result = ReductionToOneDevice().reduce("SUM", value, cpu_devices(1))
    assert result.indices.dtype == tf.int64
    assert result.indices.numpy().tolist() == [0, 2]


def test_no_rows(cpu_devices: Any) -> None:
    value = PerReplica([slices(np.zeros([0, 2], np.float32), []), slices([[1.0, 2.0]], [7])])
    result = ReductionToOneDevice().reduce("SUM", value, cpu_devices(1))
    assert result.indices.numpy().tolist() == [7]


def test_rows_that_do_not_fit(cpu_devices: Any) -> None:
    ops, to = ReductionToOneDevice(), cpu_devices(1)
    with pytest.raises(ValueMismatchError, match=r"rows of shape \(1,\), replica 1 has \(2,\)"):
        ops.reduce("SUM", PerReplica([slices([[1.0]], [0]), slices([[1.0, 2.0]], [0])]), to)
    with pytest.raises(ValueMismatchError, match="dtype float32, replica 1 has int32"):
        ops.reduce("SUM", PerReplica([slices([[1.0]], [0]), slices([[1]], [0])]), to)
    with pytest.raises(ValueMismatchError, match="scalar"):
        ops.reduce("SUM", PerReplica([slices([1.0], [0]), 1.0]), to)


def test_gradient_reaches_the_rows(cpu_devices: Any) -> None:
    names = cpu_devices(2)

    @tf.function
    def step(a: tf.Tensor, b: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([a, b])
            parts = [tf.IndexedSlices(a, tf.constant([0])), tf.IndexedSlices(b, tf.constant([0]))]
            reduced = ReductionToOneDevice().reduce("MEAN", PerReplica(parts), names)
            loss = tf.reduce_sum(reduced.values[1].values * [[2.0], [3.0]])
        return tape.gradient(loss, [a, b])

    of_a, of_b = step(tf.constant([[1.0]]), tf.constant([[1.0]]))
    assert (of_a.numpy().item(), of_b.numpy().item()) == (1.0, 1.5)


rows_of_replicas = st.lists(
    st.lists(st.tuples(st.integers(0, 4), st.integers(-9, 9)), max_size=4), min_size=1, max_size=4
)


@given(rows_of_replicas, st.sampled_from(["SUM", "MEAN"]))
@settings(max_examples=25, deadline=None)
def test_any_rows_equal_numpy(replicas: list[list[tuple[int, int]]], reduce_op: str) -> None:
    expected, parts = np.zeros(5), []
    for replica in replicas:
        for index, number in replica:
            expected[index] += number / (len(replicas) if reduce_op == "MEAN" else 1)
        numbers = np.array([number for _, number in replica], np.float64)
        parts.append(slices(numbers, [index for index, _ in replica], [5]))
    result = ReductionToOneDevice().reduce(reduce_op, PerReplica(parts), "CPU:0")
    assert result.indices.shape[0] == sum(map(len, replicas))
    np.testing.assert_allclose(dense(result), expected, atol=1e-12)
