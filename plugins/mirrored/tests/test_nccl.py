"""NCCL without GPUs: what it refuses, and the ops that it puts into a graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfdist.cross_device import resolve_cross_device_ops
from tfdist.errors import OptionError, UnavailableError
from tfdist.values import PerReplica
from tfdist_plugin_mirrored.nccl import NcclAllReduce

GPUS = [f"/job:localhost/replica:0/task:0/device:GPU:{i}" for i in range(3)]


def nodes(function: Any) -> Iterator[Any]:
    """The nodes of a concrete function and of all functions that it calls."""
    definition = function.graph.as_graph_def()
    yield from definition.node
    for called in definition.library.function:
        yield from called.node_def


def reductions(function: Any) -> list[tuple[str, str, int]]:
    """Shared name, device and count of each NCCL op."""
    return [
        (node.attr["shared_name"].s.decode(), node.device, node.attr["num_devices"].i)
        for node in nodes(function)
        if node.op == "NcclAllReduce"
    ]


def trace(body: Any, dtype: Any = tf.float32) -> Any:
    def step(x: tf.Tensor) -> Any:
        parts = []
        for device in GPUS:
            with tf.device(device):
                parts.append(tf.identity(x))
        return body(PerReplica(parts))

    return tf.function(step).get_concrete_function(tf.TensorSpec([2], dtype))


def test_one_op_a_device_with_one_name() -> None:
    found = reductions(trace(lambda v: NcclAllReduce().reduce("SUM", v, v).values))
    assert sorted(device for _, device, _ in found) == GPUS
    assert len({name for name, _, _ in found}) == 1
    assert {count for _, _, count in found} == {3}


def test_each_reduction_has_its_own_name() -> None:
    ops = NcclAllReduce()

    def twice(v: Any) -> Any:
        return ops.reduce("SUM", v, v).values, ops.reduce("MEAN", v, v).values

    names = Counter(name for name, _, _ in reductions(trace(twice)))
    assert sorted(names.values()) == [3, 3]


@pytest.mark.parametrize(("num_packs", "expected"), [(0, 3), (1, 1)])
def test_packs(num_packs: int, expected: int) -> None:
    ops = NcclAllReduce(num_packs=num_packs)

    def batch(v: Any) -> Any:
        return [r.values for r in ops.batch_reduce("MEAN", [(v, v)] * 3)]

    assert len({name for name, _, _ in reductions(trace(batch))}) == expected


@pytest.mark.parametrize("dtype", [tf.int32, tf.bfloat16, tf.complex64])
def test_falls_back_for_other_dtypes(dtype: Any) -> None:
    assert reductions(trace(lambda v: NcclAllReduce().reduce("SUM", v, v).values, dtype)) == []


def test_falls_back_for_other_destinations_and_sparse() -> None:
    def body(v: Any) -> Any:
        ops = NcclAllReduce()
        rows = PerReplica([tf.IndexedSlices(t, tf.range(2)) for t in v.values])
        return ops.reduce("SUM", v, "CPU:0"), ops.reduce("SUM", rows, v).values[0].values

    assert reductions(trace(body)) == []


@pytest.mark.parametrize("used", [[0, 1, 2], [1]])
def test_gradient_takes_part_on_every_device(used: list[int]) -> None:
    """Also for results that nothing depends on: NCCL would wait for the missing ones for ever."""

    def step(v: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(v.values)
            reduced = NcclAllReduce().reduce("SUM", v, v)
            loss = tf.add_n([tf.reduce_sum(reduced.values[i]) for i in used])
        return tape.gradient(loss, list(v.values))

    found = Counter(name for name, _, _ in reductions(trace(step)))
    backward = {name: n for name, n in found.items() if name.endswith("_gradient")}
    assert list(backward.values()) == [3]
    devices = [device for name, device, _ in reductions(trace(step)) if "_gradient" in name]
    assert sorted(devices) == GPUS


def test_works_on_cpus_by_one_device(cpu_devices: Any) -> None:
    names = cpu_devices(2)
    parts = []
    for device, number in zip(names, [1.0, 2.0], strict=True):
        with tf.device(device):
            parts.append(tf.constant([number]))
    result = NcclAllReduce().reduce("MEAN", PerReplica(parts), names)
    np.testing.assert_array_equal([v.numpy() for v in result.values], [[1.5], [1.5]])


def test_refuses_devices_without_gpu(cpu_devices: Any) -> None:
    with pytest.raises(UnavailableError, match="the devices are of type CPU"):
        resolve_cross_device_ops(NcclAllReduce(), cpu_devices(2))


@pytest.mark.skipif(bool(tf.config.list_physical_devices("GPU")), reason="NCCL may be there")
def test_refuses_a_build_without_nccl() -> None:
    with pytest.raises(UnavailableError, match="has no NCCL") as caught:
        NcclAllReduce().check_devices(GPUS)
    assert "GPU:0" in str(caught.value)
    assert "'auto'" in str(caught.value)


@pytest.mark.parametrize("bad", [-1, 1.5, True, "two"])
def test_bad_num_packs(bad: Any) -> None:
    with pytest.raises(OptionError, match="num_packs"):
        NcclAllReduce(num_packs=bad)
