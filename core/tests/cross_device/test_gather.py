"""Gathering along an axis, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from tfdist.cross_device import ReductionToOneDevice, devices_of
from tfdist.errors import OptionError, ValueMismatchError
from tfdist.values import PerReplica

from .helpers import device_names, on_devices


@pytest.mark.parametrize("in_function", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_sizes_may_differ_along_the_axis(cpu_devices: Any, axis: int, in_function: bool) -> None:
    names = cpu_devices(3)
    shapes = [[2, 2], [2, 2], [2, 2]]
    for size, shape in enumerate(shapes):
        shape[axis] = size  # the first replica has nothing
    parts = [np.full(shape, i, np.float32) for i, shape in enumerate(shapes)]

    def step() -> Any:
        value = on_devices(parts, names)
        return ReductionToOneDevice().gather(value, value, axis).values

    for copy in tf.function(step)() if in_function else step():
        np.testing.assert_array_equal(copy, np.concatenate(parts, axis))


@pytest.mark.parametrize(
    "parts", [[[True], [False]], [["a"], ["b", "c"]], [[1], [2]], [[1j], [2j]]]
)
def test_dtypes(cpu_devices: Any, parts: Any) -> None:
    names = cpu_devices(2)
    result = ReductionToOneDevice().gather(on_devices(parts, names), names[0], 0)
    expected = tf.concat([tf.constant(part) for part in parts], 0)
    assert result.dtype == expected.dtype
    assert result.numpy().tolist() == expected.numpy().tolist()


def test_ragged_and_sparse(cpu_devices: Any) -> None:
    names = cpu_devices(2)
    ops = ReductionToOneDevice(reduce_to_device=names[1])
    ragged = [tf.ragged.constant([[1], [2, 3]]), tf.ragged.constant([[4, 5, 6]])]
    result = ops.gather(PerReplica(ragged), names, 0)
    assert [copy.to_list() for copy in result.values] == [[[1], [2, 3], [4, 5, 6]]] * 2
    sparse = [tf.sparse.from_dense([[0, 1]]), tf.sparse.from_dense([[2, 0]])]
    result = ops.gather(PerReplica(sparse), names[0], 0)
    np.testing.assert_array_equal(tf.sparse.to_dense(result), [[0, 1], [2, 0]])


def test_batch(cpu_devices: Any) -> None:
    names = cpu_devices(2)
    value = on_devices([[1], [2]], names)
    first, second = ReductionToOneDevice().batch_gather([(value, names), (value, names[1])], axis=0)
    assert device_names(first) == devices_of(names)
    assert second.numpy().tolist() == [1, 2]


def test_one_replica_and_tensor_axis(cpu_devices: Any) -> None:
    names = cpu_devices(2)
    ops = ReductionToOneDevice()
    assert ops.gather(tf.constant([3]), names[0], axis=0).numpy().tolist() == [3]
    value = on_devices([[1], [2]], names)
    assert ops.gather(value, names[0], tf.constant(0)).numpy().tolist() == [1, 2]
    assert ops.gather(value, names[0], np.int64(0)).numpy().tolist() == [1, 2]


def test_gradient(cpu_devices: Any) -> None:
    names = cpu_devices(2)

    @tf.function
    def step(a: tf.Tensor, b: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([a, b])
            gathered = ReductionToOneDevice().gather(on_devices([a, b], names), names, 0)
            loss = tf.reduce_sum(gathered.values[1] * [1.0, 2.0, 3.0])
        return tape.gradient(loss, [a, b])

    of_a, of_b = step(tf.constant([0.0]), tf.constant([0.0, 0.0]))
    assert (of_a.numpy().tolist(), of_b.numpy().tolist()) == ([1.0], [2.0, 3.0])


@pytest.mark.parametrize(
    ("parts", "axis", "error", "words"),
    [
        ([1.0, 2.0], 0, ValueMismatchError, "scalar"),
        ([tf.ones([1]), tf.ones([1, 1])], 0, ValueMismatchError, "rank 1 but is rank 2"),
        ([tf.ones([1, 2]), tf.ones([1, 3])], 0, ValueMismatchError, "Dimension 1 in both shapes"),
        ([tf.ones([1]), tf.ones([1], tf.int32)], 0, ValueMismatchError, "has int32"),
        ([tf.ones([1]), tf.ones([1])], 1, OptionError, "from -1 to 0"),
        ([tf.ones([1]), tf.ones([1])], -2, OptionError, "axis=-2"),
        ([tf.ones([1]), tf.ones([1])], "rows", OptionError, "integer"),
        ([tf.ones([1]), tf.ones([1])], None, OptionError, "integer"),
        ([tf.ragged.constant([[1]]), tf.constant([[1]])], 0, ValueMismatchError, "one kind"),
        (
            [tf.IndexedSlices(tf.ones([1]), tf.constant([0]))] * 2,
            0,
            ValueMismatchError,
            "gather does not support IndexedSlices",
        ),
    ],
)
def test_bad_input(
    cpu_devices: Any, parts: Any, axis: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        ReductionToOneDevice().gather(PerReplica(parts), cpu_devices(1), axis)


def test_shape_errors_are_also_tensorflows(cpu_devices: Any) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="Ranks of all input tensors"):
        ReductionToOneDevice().gather(
            PerReplica([tf.ones([1]), tf.ones([1, 1])]), cpu_devices(1), 0
        )


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=4),
    st.lists(st.integers(0, 3), max_size=2),
    st.integers(0, 2),
)
@settings(max_examples=25, deadline=None)
def test_any_sizes_equal_numpy(sizes: list[int], others: list[int], axis: int) -> None:
    axis = min(axis, len(others))
    shapes = [[*others[:axis], size, *others[axis:]] for size in sizes]
    parts = [np.arange(np.prod(shape)).reshape(shape) + 10 * i for i, shape in enumerate(shapes)]
    names = [f"CPU:{i}" for i in range(len(parts))]
    result = ReductionToOneDevice().gather(on_devices(parts, names), names[-1], axis)
    np.testing.assert_array_equal(result, np.concatenate(parts, axis))
