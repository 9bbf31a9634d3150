"""A global batch is split along its first dimension: nothing lost, repeated or reordered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
import tensorflow as tf

from tfdist.errors import DatasetError
from tfdist.input import distribute_dataset
from tfdist.input.shares import share_sizes
from tfdist.values import PerReplica, PerReplicaSpec, select_replica

Strategies = Callable[[int], Any]
Dataset = tf.data.Dataset


def lists(element: Any) -> list[list[Any]]:
    return [value.numpy().tolist() for value in element.values]


@pytest.mark.parametrize(
    ("rows", "replicas", "expected"),
    [
        (8, 2, [4, 4]),
        (7, 2, [4, 3]),
        (7, 3, [3, 3, 1]),
        (4, 3, [2, 2, 0]),
        (1, 4, [1, 0, 0, 0]),
        (0, 2, [0, 0]),
    ],
)
def test_share_sizes(rows: int, replicas: int, expected: list[int]) -> None:
    assert share_sizes(rows, replicas) == expected


@pytest.mark.parametrize("replicas", [2, 3, 4])
@pytest.mark.parametrize("batch_size", [1, 2, 5, 8])
def test_shares_in_order_make_up_the_batches(
    strategy: Strategies, replicas: int, batch_size: int
) -> None:
    dataset = Dataset.range(13).batch(batch_size)
    steps = [lists(x) for x in distribute_dataset(dataset, strategy(replicas))]
    joined = [[row for share in step for row in share] for step in steps]
    assert joined == [batch.tolist() for batch in dataset.as_numpy_iterator()]


def test_sizes_of_full_and_partial_batches(strategy: Strategies) -> None:
    steps = distribute_dataset(Dataset.range(12).batch(8), strategy(3))
    assert [lists(x) for x in steps] == [
        [[0, 1, 2], [3, 4, 5], [6, 7]],
        [[8, 9], [10, 11], []],
    ]


def test_a_partial_batch_in_the_middle_stays_one_step(strategy: Strategies) -> None:
    dataset = Dataset.range(3).batch(2).repeat(2)
    steps = [lists(x) for x in distribute_dataset(dataset, strategy(2))]
    assert steps == [[[0], [1]], [[2], []], [[0], [1]], [[2], []]]


def test_batches_of_a_generator_may_differ(strategy: Strategies) -> None:
    def batches() -> Iterator[Any]:
        yield np.arange(3)
        yield np.arange(1)

    signature = tf.TensorSpec([None], tf.int64)
    dataset = Dataset.from_generator(batches, output_signature=signature)
    steps = [lists(x) for x in distribute_dataset(dataset, strategy(2))]
    assert steps == [[[0, 1], [2]], [[0], []]]


def test_batches_of_unknown_rank(strategy: Strategies) -> None:
    signature = tf.TensorSpec(None, tf.int64)
    dataset = Dataset.from_generator(lambda: iter([np.arange(3)]), output_signature=signature)
    distributed = distribute_dataset(dataset, strategy(2))
    assert distributed.element_spec.value_specs == (signature, signature)
    assert [lists(x) for x in distributed] == [[[0, 1], [2]]]


def test_shares_are_on_their_replicas_devices(strategy: Strategies) -> None:
    fake = strategy(3)
    element = next(iter(distribute_dataset(Dataset.range(6).batch(6), fake)))
    devices = tuple(value.backing_device for value in element.values)
    assert devices == fake.extended.worker_devices


def test_shares_stay_on_the_host_if_not_fetched(strategy: Strategies) -> None:
    options = tf.distribute.InputOptions(experimental_fetch_to_device=False)
    element = next(iter(distribute_dataset(Dataset.range(6).batch(6), strategy(2), options)))
    assert {value.backing_device[-5:] for value in element.values} == {"CPU:0"}


def test_one_replica_gets_plain_elements(strategy: Strategies) -> None:
    dataset = Dataset.range(3).batch(2)
    distributed = distribute_dataset(dataset, strategy(1))
    assert distributed.element_spec == dataset.element_spec
    assert [x.numpy().tolist() for x in distributed] == [[0, 1], [2]]


def test_one_replica_needs_no_batches(strategy: Strategies) -> None:
    assert [int(x) for x in distribute_dataset(Dataset.range(3), strategy(1))] == [0, 1, 2]


@pytest.mark.parametrize(("batch_size", "expected"), [(4, 2), (3, None)])
def test_static_shapes(strategy: Strategies, batch_size: int, expected: int | None) -> None:
    dataset = Dataset.from_tensor_slices(np.zeros([9, 5], np.float32))
    dataset = dataset.batch(batch_size, drop_remainder=True)
    spec = tf.TensorSpec([expected, 5], tf.float32)
    distributed = distribute_dataset(dataset, strategy(2))
    assert distributed.element_spec == PerReplicaSpec(spec, spec)
    assert iter(distributed).element_spec == distributed.element_spec


class Pair(NamedTuple):
    left: Any
    right: Any


def test_nested_elements(strategy: Strategies) -> None:
    def element(i: Any) -> Any:
        return {"pair": Pair(i, tf.strings.as_string(i)), "tuple": (tf.cast(i, tf.float32), None)}

    dataset = Dataset.range(3).batch(3).map(element)
    (step,) = distribute_dataset(dataset, strategy(2))
    assert isinstance(step["pair"], Pair)
    assert lists(step["pair"].left) == [[0, 1], [2]]
    assert lists(step["pair"].right) == [[b"0", b"1"], [b"2"]]
    assert lists(step["tuple"][0]) == [[0.0, 1.0], [2.0]]
    assert step["tuple"][1] is None


RAGGED = [[1], [2, 3], [], [4, 5, 6], [7]]


def test_ragged(strategy: Strategies) -> None:
    dataset = Dataset.from_tensor_slices(tf.ragged.constant(RAGGED)).batch(4)
    distributed = distribute_dataset(dataset, strategy(2))
    spec = tf.RaggedTensorSpec([None, None], tf.int32, 1, tf.int64)
    assert distributed.element_spec == PerReplicaSpec(spec, spec)
    steps = [[share.to_list() for share in step.values] for step in distributed]
    assert steps == [[[[1], [2, 3]], [[], [4, 5, 6]]], [[[7]], []]]


def test_ragged_twice_over(strategy: Strategies) -> None:
    rows = [[[1], [2, 3]], [], [[4]]]
    dataset = Dataset.from_tensor_slices(tf.ragged.constant(rows)).batch(3)
    (step,) = distribute_dataset(dataset, strategy(2))
    assert [share.to_list() for share in step.values] == [rows[:2], rows[2:]]


def test_static_ragged(strategy: Strategies) -> None:
    dataset = Dataset.from_tensor_slices(tf.ragged.constant(RAGGED)).batch(4, drop_remainder=True)
    spec = tf.RaggedTensorSpec([2, None], tf.int32, 1, tf.int64)
    assert distribute_dataset(dataset, strategy(2)).element_spec == PerReplicaSpec(spec, spec)


def test_sparse(strategy: Strategies) -> None:
    dense = np.array([[0, 1], [2, 0], [0, 0], [3, 4], [0, 5]])
    dataset = Dataset.from_tensor_slices(tf.sparse.from_dense(dense)).batch(3)
    distributed = distribute_dataset(dataset, strategy(2))
    spec = tf.SparseTensorSpec([None, 2], tf.int64)
    assert distributed.element_spec == PerReplicaSpec(spec, spec)
    steps = [
        [tf.sparse.to_dense(share).numpy().tolist() for share in step.values]
        for step in distributed
    ]
    assert steps == [[[[0, 1], [2, 0]], [[0, 0]]], [[[3, 4]], [[0, 5]]]]


def test_sparse_empty_share(strategy: Strategies) -> None:
    dataset = Dataset.from_tensor_slices(tf.sparse.from_dense([[0, 7]])).batch(3)
    (step,) = distribute_dataset(dataset, strategy(2))
    assert step.values[1].dense_shape.numpy().tolist() == [0, 2]
    assert step.values[1].indices.shape == (0, 2)


class Boxes(tf.experimental.BatchableExtensionType):
    corners: tf.Tensor
    labels: tf.Tensor


def test_batchable_extension_types(strategy: Strategies) -> None:
    boxes = Boxes(tf.reshape(tf.range(6), [3, 2]), tf.constant(["a", "b", "c"]))
    dataset = Dataset.from_tensor_slices(boxes).batch(3)
    (step,) = distribute_dataset(dataset, strategy(2))
    first, second = (select_replica(i, step) for i in range(2))
    assert isinstance(first, Boxes)
    assert first.corners.numpy().tolist() == [[0, 1], [2, 3]]
    assert second.labels.numpy().tolist() == [b"c"]


def test_empty_dataset(strategy: Strategies) -> None:
    distributed = distribute_dataset(Dataset.range(0).batch(2), strategy(2))
    assert list(distributed) == []
    assert not iter(distributed).get_next_as_optional().has_value()


def test_infinite_dataset(strategy: Strategies) -> None:
    distributed = distribute_dataset(Dataset.range(2).batch(2).repeat(), strategy(2))
    assert distributed.cardinality == tf.data.INFINITE_CARDINALITY
    iterator = iter(distributed)
    assert [lists(next(iterator)) for _ in range(3)] == [[[0], [1]]] * 3


def test_each_pass_starts_anew(strategy: Strategies) -> None:
    distributed = distribute_dataset(Dataset.range(4).batch(2), strategy(2))
    assert [lists(x) for x in distributed] == [lists(x) for x in distributed]
    assert distributed.cardinality == 2


def test_leaves_are_per_replica(strategy: Strategies) -> None:
    element = next(iter(distribute_dataset(Dataset.range(4).batch(2), strategy(2))))
    assert isinstance(element, PerReplica)


@pytest.mark.parametrize("policy", list(tf.data.experimental.AutoShardPolicy))
def test_policies_leave_nothing_out(strategy: Strategies, policy: Any) -> None:
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = policy
    dataset = Dataset.range(3).batch(2).with_options(options)
    steps = [lists(x) for x in distribute_dataset(dataset, strategy(2))]
    assert steps == [[[0], [1]], [[2], []]]


def test_scalars_cannot_be_split(strategy: Strategies) -> None:
    with pytest.raises(DatasetError, match="no batch dimension") as caught:
        distribute_dataset(Dataset.range(4), strategy(2))
    assert isinstance(caught.value, ValueError)


def test_parts_of_known_different_length_cannot_be_split(strategy: Strategies) -> None:
    dataset = Dataset.from_tensors((np.zeros(4), np.zeros(3)))
    with pytest.raises(DatasetError, match="4.*3"):
        distribute_dataset(dataset, strategy(2))


def test_parts_that_turn_out_of_different_length_raise(strategy: Strategies) -> None:
    dataset = Dataset.zip((Dataset.range(4).batch(4), Dataset.range(2).batch(2)))
    with pytest.raises(tf.errors.InvalidArgumentError):
        next(iter(distribute_dataset(dataset, strategy(2))))


@pytest.mark.parametrize("value", [np.zeros(4), [1, 2], iter([1]), None])
def test_what_is_no_dataset_is_refused(strategy: Strategies, value: Any) -> None:
    with pytest.raises(DatasetError, match=r"from_tensor_slices"):
        distribute_dataset(value, strategy(2))


def test_distributed_datasets_are_refused(strategy: Strategies) -> None:
    distributed = distribute_dataset(Dataset.range(4).batch(2), strategy(2))
    with pytest.raises(DatasetError, match="distributed already"):
        distribute_dataset(distributed, strategy(2))
