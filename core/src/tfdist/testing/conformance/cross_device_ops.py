"""The suite for cross-device ops of the graph kind: values of several devices of one process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tfdist
from tfdist.specs import CrossDeviceOpsSpec
from tfdist.testing.conformance.helpers import (
    assert_all_equal,
    assert_equal,
    in_mode,
    rows,
)
from tfdist.testing.conformance.subjects import CrossDeviceOpsSubject

SUM, MEAN = tf.distribute.ReduceOp.SUM, tf.distribute.ReduceOp.MEAN
NUMPY: dict[Any, Callable[..., Any]] = {SUM: np.sum, MEAN: np.mean}
DTYPES = {
    "float16": "floating",
    "float32": "floating",
    "float64": "floating",
    "int32": "integer",
    "int64": "integer",
    "complex64": "complex",
}

by_reduce_op = pytest.mark.parametrize("reduce_op", NUMPY, ids=lambda op: op.name)


def spread(devices: Sequence[str], values: Sequence[Any]) -> Any:
    """The i-th of `values` on the i-th device, as one distributed value."""
    parts = []
    for device, value in zip(devices, values, strict=True):
        with tf.device(device):
            parts.append(tf.identity(value))
    return tfdist.PerReplica(parts)


def copies(result: Any) -> list[Any]:
    """The copies of a result on its devices; a plain tensor is the only one."""
    return list(result.values) if isinstance(result, tfdist.Mirrored) else [result]


def assert_on(devices: Sequence[str], result: Any, expected: Any) -> None:
    """A copy on each of the devices, in their order, each as expected."""
    parts = copies(result)
    assert_all_equal(parts, [expected] * len(devices))
    for part, device in zip(parts, devices, strict=True):
        assert part.device.endswith(device)


class DenseChecks:
    """Sums, means and copies of tensors."""

    @by_reduce_op
    def test_reduce_to_all_devices(
        self, ops: Any, devices: tuple[str, ...], reduce_op: Any
    ) -> None:
        values = rows(len(devices))
        result = ops.reduce(reduce_op, spread(devices, values), devices)
        assert_on(devices, result, NUMPY[reduce_op](values, axis=0))

    @by_reduce_op
    def test_reduce_to_one_device(self, ops: Any, devices: tuple[str, ...], reduce_op: Any) -> None:
        values = rows(len(devices))
        result = ops.reduce(reduce_op, spread(devices, values), devices[-1])
        assert_on(devices[-1:], result, NUMPY[reduce_op](values, axis=0))

    @by_reduce_op
    def test_reduce_in_a_graph_function(
        self, ops: Any, devices: tuple[str, ...], reduce_op: Any
    ) -> None:
        values = rows(len(devices))

        @tf.function
        def reduce() -> Any:
            return copies(ops.reduce(reduce_op, spread(devices, values), devices))

        expected = NUMPY[reduce_op](values, axis=0)
        assert_all_equal(reduce(), [expected] * len(devices))

    @pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1,), (5, 7, 2)])
    def test_shapes(self, ops: Any, devices: tuple[str, ...], shape: tuple[int, ...]) -> None:
        values = [np.full(shape, i + 1.0) for i in range(len(devices))]
        result = ops.reduce(SUM, spread(devices, values), devices)
        assert_on(devices, result, np.sum(values, axis=0))

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_dtypes(
        self, ops: Any, devices: tuple[str, ...], dtype: str, spec: CrossDeviceOpsSpec
    ) -> None:
        if DTYPES[dtype] not in spec.capabilities.dtypes:
            pytest.skip(f"the op declares no {DTYPES[dtype]} values")
        values = [np.array([1, i], dtype) for i in range(len(devices))]
        result = ops.reduce(SUM, spread(devices, values), devices)
        assert_on(devices, result, np.sum(values, axis=0))
        assert {part.dtype.name for part in copies(result)} == {dtype}

    @by_reduce_op
    @pytest.mark.parametrize("bytes_per_pack", [0, 64])
    def test_many_values_at_once(
        self,
        ops: Any,
        devices: tuple[str, ...],
        reduce_op: Any,
        bytes_per_pack: int,
        mode: str,
    ) -> None:
        shapes: list[tuple[int, ...]] = [(), (3,), (0,), (2, 5), (40,), (1, 1)]
        replicas = [
            [np.full(shape, 10.0 * i + n, "float32") for n, shape in enumerate(shapes)]
            for i in range(len(devices))
        ]
        options = tf.distribute.experimental.CommunicationOptions(bytes_per_pack=bytes_per_pack)

        def reduce() -> Any:
            pairs = [(spread(devices, values), devices) for values in zip(*replicas, strict=True)]
            return [copies(r) for r in ops.batch_reduce(reduce_op, pairs, options)]

        results = in_mode(mode, reduce)()
        assert len(results) == len(shapes)
        for result, values in zip(results, zip(*replicas, strict=True), strict=True):
            expected = NUMPY[reduce_op](values, axis=0)
            assert_all_equal(result, [expected] * len(devices))

    def test_values_of_mixed_dtypes_at_once(self, ops: Any, devices: tuple[str, ...]) -> None:
        dtypes = ["float32", "float64", "float32", "float16"]
        pairs = [
            (spread(devices, [np.array([n + i], d) for i in range(len(devices))]), devices)
            for n, d in enumerate(dtypes)
        ]
        for n, result in enumerate(ops.batch_reduce(SUM, pairs)):
            assert_on(devices, result, [sum(n + i for i in range(len(devices)))])
            assert copies(result)[0].dtype.name == dtypes[n]

    def test_broadcast(self, ops: Any, devices: tuple[str, ...]) -> None:
        assert_on(devices, ops.broadcast(tf.constant([1, 2]), devices), [1, 2])

    def test_gradients_go_through_a_sum(self, ops: Any, devices: tuple[str, ...]) -> None:
        parts = [tf.constant(float(i)) for i in range(len(devices))]
        with tf.GradientTape() as tape:
            tape.watch(parts)
            total = copies(ops.reduce(SUM, tfdist.PerReplica(parts), devices[0]))[0]
            y = total * total
        twice = 2.0 * sum(range(len(devices)))
        assert_all_equal(tape.gradient(y, parts), [twice] * len(devices))


class GatherChecks:
    """Concatenation, in the order of the replicas."""

    def test_uneven_shares_along_the_first_dimension(
        self, ops: Any, devices: tuple[str, ...], mode: str
    ) -> None:
        values = rows(len(devices), uneven=True)

        def gather() -> Any:
            return copies(ops.gather(spread(devices, values), devices, axis=0))

        result = in_mode(mode, gather)()
        assert_all_equal(result, [np.concatenate(values)] * len(devices))

    @pytest.mark.parametrize("axis", [1, -1])
    def test_another_dimension(self, ops: Any, devices: tuple[str, ...], axis: int) -> None:
        values = rows(len(devices))
        result = ops.gather(spread(devices, values), devices, axis=axis)
        assert_on(devices, result, np.concatenate(values, axis=axis))


class SparseChecks:
    """`tf.IndexedSlices` are added without becoming dense."""

    @by_reduce_op
    def test_indexed_slices(
        self,
        ops: Any,
        devices: tuple[str, ...],
        reduce_op: Any,
        mode: str,
        spec: CrossDeviceOpsSpec,
    ) -> None:
        if not spec.capabilities.sparse:
            pytest.skip("the op declares no sparse values")
        # Each replica has row 0 and a row of its own.
        expected = np.zeros([6, 2])
        for i in range(len(devices)):
            expected[0] += 1.0
            expected[i + 1] += i + 2.0
        if reduce_op is MEAN:
            expected /= len(devices)

        def reduce() -> Any:
            parts = [
                tf.IndexedSlices(
                    values=tf.constant([[1.0, 1.0], [i + 2.0, i + 2.0]]),
                    indices=tf.constant([0, i + 1]),
                    dense_shape=tf.constant([6, 2]),
                )
                for i in range(len(devices))
            ]
            return copies(ops.reduce(reduce_op, tfdist.PerReplica(parts), devices))

        results = in_mode(mode, reduce)()
        assert len(results) == len(devices)
        for result in results:
            assert isinstance(result, tf.IndexedSlices)
            assert_equal(tf.convert_to_tensor(result), expected)


class CrossDeviceOpsConformance(DenseChecks, GatherChecks, SparseChecks, CrossDeviceOpsSubject):
    """What a cross-device op must do. Inherit it and set `name`; override fixtures as needed."""
