"""Dense reductions against NumPy, eagerly and inside a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfdist.cross_device import CrossDeviceOps, ReductionToOneDevice, devices_of
from tfdist.errors import DeviceError, OptionError, ValueMismatchError
from tfdist.values import Mirrored, PerReplica

from .helpers import device_names, on_devices


@pytest.fixture(params=[1, 2, 3])
def devices(request: pytest.FixtureRequest, cpu_devices: Callable[[int], list[str]]) -> list[str]:
    return cpu_devices(request.param)


@pytest.fixture
def ops() -> CrossDeviceOps:
    return ReductionToOneDevice()


def _rows(count: int) -> list[np.ndarray]:
    return [np.arange(6, dtype=np.float32).reshape(2, 3) * (i + 1) + i for i in range(count)]


@pytest.mark.parametrize("in_function", [False, True])
@pytest.mark.parametrize("reduce_op", ["SUM", "mean", tf.distribute.ReduceOp.SUM])
def test_all_reduce(
    ops: CrossDeviceOps, devices: list[str], reduce_op: Any, in_function: bool
) -> None:
    rows = _rows(len(devices))

    def step() -> Any:
        value = on_devices(rows, devices)
        result = ops.reduce(reduce_op, value, value)
        return result.values if isinstance(result, Mirrored) else (result,)

    results = tf.function(step)() if in_function else step()
    expected = np.mean(rows, axis=0) if reduce_op == "mean" else np.sum(rows, axis=0)
    assert len(results) == len(devices)
    for result in results:
        np.testing.assert_array_equal(result, expected)


def test_results_are_on_the_destinations(ops: CrossDeviceOps, cpu_devices: Any) -> None:
    names = cpu_devices(3)
    result = ops.reduce("SUM", on_devices([1.0, 2.0], names[:2]), [names[2], names[1]])
    assert device_names(result) == devices_of([names[2], names[1]])


def test_one_destination_gives_a_plain_tensor(ops: CrossDeviceOps, cpu_devices: Any) -> None:
    names = cpu_devices(2)
    result = ops.reduce("SUM", on_devices([1.0, 2.0], names), names[1])
    assert isinstance(result, tf.Tensor)
    assert result.numpy() == 3.0
    assert result.device == devices_of(names[1])[0]


def test_a_plain_tensor_is_one_replica(ops: CrossDeviceOps, cpu_devices: Any) -> None:
    assert ops.reduce("MEAN", tf.constant(4.0), cpu_devices(2)).numpy() == 4.0


def test_variables_are_values_and_destinations(ops: CrossDeviceOps, cpu_devices: Any) -> None:
    names = cpu_devices(2)
    with tf.device(names[1]):
        variable = tf.Variable(5.0)
    result = ops.reduce("SUM", PerReplica([variable, 1.0]), variable)
    assert result.numpy() == 6.0
    assert result.device == variable.device
    assert variable.numpy() == 5.0


@pytest.mark.parametrize(
    ("dtype", "mean_dtype"),
    [
        ("float16", "float16"),
        ("bfloat16", "bfloat16"),
        ("float64", "float64"),
        ("complex64", "complex64"),
        ("int8", "float32"),
        ("uint8", "float32"),
        ("int32", "float64"),
        ("int64", "float64"),
    ],
)
def test_dtypes(ops: CrossDeviceOps, cpu_devices: Any, dtype: str, mean_dtype: str) -> None:
    names = cpu_devices(2)
    value = on_devices([tf.constant([1, 4], dtype), tf.constant([2, 6], dtype)], names)
    total, mean = ops.reduce("SUM", value, names[0]), ops.reduce("MEAN", value, names[0])
    assert (total.dtype.name, mean.dtype.name) == (dtype, mean_dtype)
    np.testing.assert_array_equal(tf.cast(total, tf.float32), [3, 10])
    np.testing.assert_array_equal(tf.cast(mean, tf.float32), [1.5, 5])


@pytest.mark.parametrize("parts", [[True, False], ["a", "b"]])
def test_dtypes_without_a_sum(ops: CrossDeviceOps, cpu_devices: Any, parts: Any) -> None:
    with pytest.raises(ValueMismatchError, match="numeric dtype"):
        ops.reduce("SUM", on_devices(parts, cpu_devices(2)), cpu_devices(1))


def test_one_replica_of_any_dtype_stays(ops: CrossDeviceOps, cpu_devices: Any) -> None:
    assert ops.reduce("MEAN", tf.constant("a"), cpu_devices(1)).numpy() == b"a"
    assert ops.reduce("MEAN", tf.constant(3), cpu_devices(1)).dtype == tf.int32


def test_reduce_to_device_and_accumulation_fn(cpu_devices: Any) -> None:
    names = cpu_devices(3)
    places = []

    def product(values: Sequence[tf.Tensor]) -> tf.Tensor:
        result = values[0] * values[1]
        places.append(result.device)
        return result

    ops = ReductionToOneDevice(reduce_to_device=names[2], accumulation_fn=product)
    result = ops.reduce("SUM", on_devices([3.0, 4.0], names[:2]), names[0])
    assert result.numpy() == 12.0
    assert places == list(devices_of(names[2]))
    assert result.device == devices_of(names[0])[0]


def test_unknown_shapes(ops: CrossDeviceOps, cpu_devices: Any) -> None:
    names = cpu_devices(2)

    @tf.function(input_signature=[tf.TensorSpec(None), tf.TensorSpec(None)])
    def step(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
        return ops.reduce("SUM", on_devices([a, b], names), names[0])

    np.testing.assert_array_equal(step(tf.ones([2]), tf.ones([2])), [2, 2])


@pytest.mark.parametrize("bad", [None, "PRODUCT", 3])
def test_bad_reduce_op(ops: CrossDeviceOps, cpu_devices: Any, bad: Any) -> None:
    with pytest.raises(OptionError, match="reduce_op"):
        ops.reduce(bad, tf.constant(1.0), cpu_devices(1))


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ([tf.constant([1.0]), tf.constant([1])], "dtype float32, replica 1 has int32"),
        ([tf.ones([2]), tf.ones([3])], r"shape \(2,\), replica 1 has \(3,\)"),
        ([tf.ones([2]), tf.ones([2, 1])], r"replica 1 has \(2, 1\)"),
        ([tf.ragged.constant([[1.0]])] * 2, "RaggedTensor"),
        ([tf.sparse.from_dense([1.0])] * 2, "SparseTensor"),
        ([object(), object()], "object"),
        ([None, None], "None"),
    ],
)
def test_bad_values(ops: CrossDeviceOps, cpu_devices: Any, parts: Any, words: str) -> None:
    with pytest.raises(ValueMismatchError, match=words):
        ops.reduce("SUM", PerReplica(parts), cpu_devices(1))


def test_bad_plain_value(ops: CrossDeviceOps, cpu_devices: Any) -> None:
    with pytest.raises(ValueMismatchError, match="distributed value, a tensor"):
        ops.reduce("SUM", {"a": 1.0}, cpu_devices(1))


@pytest.mark.parametrize(
    "bad", ["CPU:99", "no device", "", [], 3, None, "/job:nowhere/device:CPU:0"]
)
def test_bad_destinations(ops: CrossDeviceOps, bad: Any) -> None:
    for call in (
        lambda: ops.reduce("SUM", tf.constant(1.0), bad),
        lambda: ops.batch_reduce("SUM", [(tf.constant(1.0), bad)]),
        lambda: ops.broadcast(1.0, bad),
        lambda: ops.gather(tf.constant([1.0]), bad, axis=0),
    ):
        with pytest.raises(DeviceError, match="Cannot send a value"):
            call()


def test_bad_options(ops: CrossDeviceOps, cpu_devices: Any) -> None:
    with pytest.raises(OptionError, match="CommunicationOptions"):
        ops.reduce("SUM", tf.constant(1.0), cpu_devices(1), options={"bytes_per_pack": 1})
    with pytest.raises(OptionError, match="accumulation_fn"):
        ReductionToOneDevice(accumulation_fn=3)  # type: ignore[arg-type]
    with pytest.raises(DeviceError):
        ReductionToOneDevice(reduce_to_device="CPU:99")


@pytest.mark.parametrize("in_function", [False, True])
@pytest.mark.parametrize(("reduce_op", "factor"), [("SUM", 1.0), ("MEAN", 0.5)])
def test_gradient(
    ops: CrossDeviceOps, cpu_devices: Any, reduce_op: str, factor: float, in_function: bool
) -> None:
    names = cpu_devices(2)

    def step(a: tf.Tensor, b: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([a, b])
            value = on_devices([a * a, b], names)
            reduced = ops.reduce(reduce_op, value, value)
            loss = 2.0 * reduced.values[0] + 3.0 * reduced.values[1]
        return tape.gradient(loss, [a, b])

    gradient = tf.function(step) if in_function else step
    of_a, of_b = gradient(tf.constant(3.0), tf.constant(7.0))
    assert (of_a.numpy(), of_b.numpy()) == (5 * factor * 6.0, 5 * factor)


def test_broadcast(ops: CrossDeviceOps, cpu_devices: Any) -> None:
    names = cpu_devices(3)
    result = ops.broadcast(np.array([1, 2]), names)
    assert device_names(result) == devices_of(names)
    for copy in result.values:
        np.testing.assert_array_equal(copy, [1, 2])
    plain = ops.broadcast(tf.constant("a"), names[1])
    assert (plain.numpy(), plain.device) == (b"a", devices_of(names[1])[0])


def test_broadcast_of_mirrored_and_composites(ops: CrossDeviceOps, cpu_devices: Any) -> None:
    names = cpu_devices(2)
    again = ops.broadcast(ops.broadcast(5.0, names), [names[1], names[0]])
    assert device_names(again) == devices_of([names[1], names[0]])
    ragged = ops.broadcast(tf.ragged.constant([[1], [2, 3]]), names)
    assert ragged.values[1].to_list() == [[1], [2, 3]]
    slices = ops.broadcast(tf.IndexedSlices(tf.ones([1, 2]), tf.constant([3])), names)
    assert slices.values[1].indices.numpy().tolist() == [3]


@pytest.mark.parametrize("count", [3, 8])
def test_the_order_of_addition_is_fixed(ops: CrossDeviceOps, cpu_devices: Any, count: int) -> None:
    """The bits are those of adding one after the other, eagerly and in a graph."""
    names, generator = cpu_devices(count), np.random.default_rng(0)
    parts = [generator.normal(size=500).astype(np.float32) for _ in names]
    expected = parts[0]
    for part in parts[1:]:
        expected = expected + part

    def reduce(*tensors: tf.Tensor) -> Any:
        return ops.reduce("SUM", on_devices(tensors, names), names).values

    def reduce_fresh(*tensors: tf.Tensor) -> Any:
        return reduce(*(tf.concat([t[:100], t[100:]], 0) for t in tensors))

    tensors = [tf.constant(part) for part in parts]
    for step in (reduce, tf.function(reduce), reduce_fresh, tf.function(reduce_fresh)):
        for copy in step(*tensors):
            np.testing.assert_array_equal(copy, expected)
