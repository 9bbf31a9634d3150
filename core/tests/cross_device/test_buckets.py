"""Packing: which tensors travel together, and that it changes no bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from tfdist.cross_device import ReductionToOneDevice, buckets, devices_of
from tfdist.errors import OptionError
from tfdist.values import Mirrored, PerReplica

from .helpers import device_names, on_devices

sizes = st.lists(st.integers(0, 50), max_size=12)


@given(sizes, st.integers(1, 60))
def test_packs_by_bytes_keep_order_and_limit(sizes_bytes: list[int], limit: int) -> None:
    packs = buckets.by_bytes(limit)(sizes_bytes)
    assert [i for pack in packs for i in pack] == list(range(len(sizes_bytes)))
    for pack in packs:
        filled = sum(sizes_bytes[i] for i in pack)
        assert filled <= limit or sum(1 for i in pack if sizes_bytes[i]) == 1


@given(sizes, st.integers(0, 5))
def test_packs_by_count_keep_order_and_count(sizes_bytes: list[int], count: int) -> None:
    packs = buckets.by_count(count)(sizes_bytes)
    assert [i for pack in packs for i in pack] == list(range(len(sizes_bytes)))
    assert all(packs)
    if count:
        assert len(packs) <= count
    else:
        assert all(len(pack) == 1 for pack in packs)


def test_equal_tensors_fill_packs_evenly() -> None:
    assert buckets.by_count(2)([8, 8, 8, 8]) == [[0, 1], [2, 3]]


def options(bytes_per_pack: int) -> Any:
    return tf.distribute.experimental.CommunicationOptions(bytes_per_pack=bytes_per_pack)


def mixed_pairs(devices: list[str]) -> list[tuple[PerReplica, Any]]:
    generator = np.random.default_rng(0)

    def draw(*shape: int, dtype: Any = np.float32) -> list[Any]:
        return [(generator.normal(size=shape) * 100).astype(dtype) for _ in devices]

    rows = [tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([2])) for _ in devices]
    return [
        (on_devices(draw(3, 2), devices), devices),
        (on_devices(draw(2, dtype=np.int32), devices), devices),
        (on_devices(rows, devices), devices),
        (on_devices(draw(), devices), devices),
        (on_devices(draw(4), devices), devices[0]),
        (on_devices(draw(0, 2), devices), devices),
        (on_devices(draw(2, dtype=np.int32), devices), devices),
        (tf.constant([7.0]), devices),
        (on_devices(draw(5), devices), devices[0]),
    ]


@pytest.mark.parametrize("in_function", [False, True])
@pytest.mark.parametrize("limit", [1, 20, 10_000])
@pytest.mark.parametrize("reduce_op", ["SUM", "MEAN"])
def test_packed_equals_unpacked(
    cpu_devices: Any, reduce_op: str, limit: int, in_function: bool
) -> None:
    names = cpu_devices(3)
    ops = ReductionToOneDevice()
    destinations = [to for _, to in mixed_pairs(names)]

    def step(values: Any) -> Any:
        pairs = list(zip(values, destinations, strict=True))
        packed = ops.batch_reduce(reduce_op, pairs, options(limit))
        single = [ops.reduce(reduce_op, value, to) for value, to in pairs]
        return [tensors(result) for result in packed], [tensors(result) for result in single]

    # As arguments, since sums of constants are folded in an order of TensorFlow's own.
    values = [value for value, _ in mixed_pairs(names)]
    for packed, single in zip(*(tf.function(step) if in_function else step)(values), strict=True):
        for one, other in zip(packed, single, strict=True):
            assert (one.dtype, one.shape) == (other.dtype, other.shape)
            np.testing.assert_array_equal(one, other)


def tensors(result: Any) -> list[tf.Tensor]:
    copies = result.values if isinstance(result, Mirrored) else (result,)
    return tf.nest.flatten(list(copies), expand_composites=True)


def test_packed_results_are_on_their_devices(cpu_devices: Any) -> None:
    names = cpu_devices(2)
    pairs = [(on_devices([[1.0], [2.0]], names), names)] * 3
    for result in ReductionToOneDevice().batch_reduce("SUM", pairs, options(1000)):
        assert device_names(result) == devices_of(names)
        assert result.numpy().tolist() == [3.0]


def test_packing_makes_fewer_sums(cpu_devices: Any) -> None:
    names = cpu_devices(2)

    def sums(limit: int) -> int:
        def step() -> Any:
            value = on_devices([[1.0], [2.0]], names)
            pairs = [(value, names)] * 5
            return [
                r.values for r in ReductionToOneDevice().batch_reduce("SUM", pairs, options(limit))
            ]

        graph = tf.function(step).get_concrete_function().graph
        return sum(op.type == "AddN" for op in graph.get_operations())

    assert (sums(0), sums(8), sums(10_000)) == (5, 3, 1)


def test_own_accumulation_is_never_packed(cpu_devices: Any) -> None:
    seen = []

    def add(values: Any) -> Any:
        seen.append(values[0].shape.as_list())
        return tf.add_n(values)

    names = cpu_devices(2)
    pairs = [(on_devices([[1.0], [2.0]], names), names)] * 2
    ReductionToOneDevice(accumulation_fn=add).batch_reduce("SUM", pairs, options(1000))
    assert seen == [[1], [1]]


def test_unknown_shapes_go_alone(cpu_devices: Any) -> None:
    names = cpu_devices(2)

    @tf.function(input_signature=[tf.TensorSpec([None])])
    def step(x: tf.Tensor) -> Any:
        unknown, known = on_devices([x, x], names), on_devices([[1.0], [2.0]], names)
        pairs = [(unknown, names[0]), (known, names[0]), (known, names[0])]
        return ReductionToOneDevice().batch_reduce("SUM", pairs, options(1000))

    results = [result.numpy().tolist() for result in step(tf.constant([1.0, 2.0]))]
    assert results == [[2.0, 4.0], [3.0], [3.0]]


def test_gradient_through_packs(cpu_devices: Any) -> None:
    names = cpu_devices(2)

    @tf.function
    def step(a: tf.Tensor, b: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([a, b])
            pairs = [(on_devices([a, b], names), names), (on_devices([[1.0], [1.0]], names), names)]
            first, second = ReductionToOneDevice().batch_reduce("MEAN", pairs, options(1000))
            loss = tf.reduce_sum(first.values[1] * [2.0, 4.0]) + tf.reduce_sum(second.values[0])
        return tape.gradient(loss, [a, b])

    for gradient in step(tf.ones([2]), tf.ones([2])):
        assert gradient.numpy().tolist() == [1.0, 2.0]


@given(
    st.integers(1, 4),
    st.lists(st.lists(st.integers(0, 3), max_size=3).map(tuple), min_size=1, max_size=5),
    st.sampled_from(["SUM", "MEAN"]),
    st.integers(0, 100),
    st.integers(0, 2**16),
)
@settings(max_examples=25, deadline=None)
def test_any_batch_equals_numpy(
    count: int, shapes: list[tuple[int, ...]], reduce_op: str, limit: int, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    names = [f"CPU:{i}" for i in range(count)]
    # Whole numbers: exact in any order, so the comparison is for equality.
    parts = [[generator.integers(-99, 99, s).astype(np.float64) for _ in names] for s in shapes]
    pairs = [(on_devices(each, names), names) for each in parts]
    results = ReductionToOneDevice().batch_reduce(reduce_op, pairs, options(limit))
    combine = np.sum if reduce_op == "SUM" else np.mean
    for each, result in zip(parts, results, strict=True):
        for copy in getattr(result, "values", (result,)):
            np.testing.assert_allclose(copy, combine(each, axis=0), rtol=1e-15)


@pytest.mark.parametrize("bad", [None, 3, [1], [(1.0,)], [("a", "b", "c")]])
def test_bad_pairs(bad: Any) -> None:
    with pytest.raises(OptionError, match="value_destination_pairs"):
        ReductionToOneDevice().batch_reduce("SUM", bad)
    with pytest.raises(OptionError, match="value_destination_pairs"):
        ReductionToOneDevice().batch_gather(bad, 0)


def test_an_empty_batch() -> None:
    assert ReductionToOneDevice().batch_reduce("SUM", []) == []
    assert ReductionToOneDevice().batch_gather([], 0) == []
