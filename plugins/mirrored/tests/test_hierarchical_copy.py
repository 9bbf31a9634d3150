"""The two-level all-reduce on virtual CPU devices, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfdist.cross_device import ReductionToOneDevice, devices_of
from tfdist.errors import ValueMismatchError
from tfdist.values import Mirrored, PerReplica
from tfdist_plugin_mirrored.hierarchical_copy import HierarchicalCopyAllReduce, two_halves


def on_devices(parts: Any, devices: Any) -> PerReplica:
    values = []
    for part, device in zip(parts, devices, strict=True):
        with tf.device(device):
            values.append(tf.identity(part))
    return PerReplica(values)


def whole(count: int, shape: tuple[int, ...] = (3,), seed: int = 0) -> list[np.ndarray]:
    """Whole numbers as floats: their sums are exact in any order."""
    generator = np.random.default_rng(seed)
    return [generator.integers(-9, 9, shape).astype(np.float32) for _ in range(count)]


@pytest.mark.parametrize(
    ("count", "sizes"), [(1, [1]), (2, [1, 1]), (3, [2, 1]), (5, [3, 2]), (8, [4, 4])]
)
def test_two_halves(count: int, sizes: list[int]) -> None:
    halves = two_halves(count)
    assert [len(half) for half in halves] == sizes
    assert [i for half in halves for i in half] == list(range(count))


@pytest.mark.parametrize("in_function", [False, True])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 8])
def test_all_reduce(cpu_devices: Any, count: int, in_function: bool) -> None:
    names, parts, ops = cpu_devices(count), whole(count), HierarchicalCopyAllReduce()

    def step() -> Any:
        value = on_devices(parts, names)
        results = [*ops.batch_reduce("SUM", [(value, value)]), ops.reduce("MEAN", value, value)]
        return [r.values if isinstance(r, Mirrored) else (r,) for r in results]

    total, mean = tf.function(step)() if in_function else step()
    assert len(total) == count
    for copy in total:
        np.testing.assert_array_equal(copy, np.sum(parts, axis=0))
    for copy in mean:
        np.testing.assert_allclose(copy, np.mean(parts, axis=0), rtol=1e-6)


def test_results_are_on_the_devices_in_the_order_asked(cpu_devices: Any) -> None:
    names = cpu_devices(4)
    result = HierarchicalCopyAllReduce().reduce(
        "SUM", on_devices(whole(4), names), list(reversed(names))
    )
    assert tuple(v.device for v in result.values) == devices_of(list(reversed(names)))


@pytest.mark.parametrize("num_packs", [0, 1, 2, 5])
def test_packing_changes_no_bit(cpu_devices: Any, num_packs: int) -> None:
    names = cpu_devices(4)
    generator = np.random.default_rng(1)
    shapes: list[tuple[int, ...]] = [(3,), (), (2, 2), (0, 3), (5,)]
    batches = [[generator.normal(size=s).astype(np.float32) for _ in names] for s in shapes]
    values = [on_devices(batch, names) for batch in batches]
    one_by_one = [HierarchicalCopyAllReduce().reduce("MEAN", v, v) for v in values]
    packed = HierarchicalCopyAllReduce(num_packs).batch_reduce("MEAN", [(v, v) for v in values])
    for expected, result, shape in zip(one_by_one, packed, shapes, strict=True):
        assert tuple(v.device for v in result.values) == devices_of(names)
        for copy in result.values:
            assert copy.shape == shape
            np.testing.assert_array_equal(copy, expected.values[0])


def test_falls_back_for_other_destinations_sparse_and_gather(cpu_devices: Any) -> None:
    names, ops = cpu_devices(2), HierarchicalCopyAllReduce()
    value = on_devices([[1.0], [2.0]], names)
    assert ops.reduce("SUM", value, names[1]).numpy() == [3.0]
    assert ops.gather(value, names[0], axis=0).numpy().tolist() == [1.0, 2.0]
    rows = PerReplica([tf.IndexedSlices(v[None], tf.constant([4])) for v in value.values])
    result = ops.reduce("MEAN", rows, value)
    assert result.values[1].indices.numpy().tolist() == [4, 4]
    assert result.values[1].values.numpy().tolist() == [[0.5], [1.0]]


def test_dtypes(cpu_devices: Any) -> None:
    names, ops = cpu_devices(2), HierarchicalCopyAllReduce()
    for dtype in (tf.int32, tf.int64, tf.complex64, tf.bfloat16):
        value = on_devices([tf.constant([1], dtype), tf.constant([2], dtype)], names)
        for reduce_op in ("SUM", "MEAN"):
            ours = ops.reduce(reduce_op, value, value)
            simple = ReductionToOneDevice().reduce(reduce_op, value, value)
            assert ours.dtype == simple.dtype
            np.testing.assert_array_equal(ours.numpy(), simple.numpy())
    with pytest.raises(ValueMismatchError, match="numeric"):
        value = on_devices([[True], [False]], names)
        ops.reduce("SUM", value, value)


def test_gradient(cpu_devices: Any) -> None:
    names = cpu_devices(3)
    weights = [2.0, 3.0, 5.0]

    @tf.function
    def step(xs: list[tf.Tensor]) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(xs)
            value = on_devices([x * x for x in xs], names)
            reduced, _ = HierarchicalCopyAllReduce().batch_reduce(
                "MEAN", [(value, value), (value, value)]
            )
            loss = tf.add_n([w * v for w, v in zip(weights, reduced.values, strict=True)])
        return tape.gradient(loss, xs)

    gradients = step([tf.constant(1.0), tf.constant(2.0), tf.constant(4.0)])
    # Each copy is (a² + b² + c²) / 3 and the weights add to 10: 20/3 times the number itself.
    np.testing.assert_allclose(gradients, [20 / 3, 40 / 3, 80 / 3], rtol=1e-6)
