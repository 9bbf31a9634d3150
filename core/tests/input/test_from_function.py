"""Datasets that a function makes for one replica at a time."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf

from tfdist.errors import DatasetError, OptionError
from tfdist.input import distribute_from_function
from tfdist.values import PerReplicaSpec

Strategies = Callable[[int], Any]
Dataset = tf.data.Dataset
Options = tf.distribute.InputOptions
PER_REPLICA = tf.distribute.InputReplicationMode.PER_REPLICA


def lists(element: Any) -> list[Any]:
    return [value.numpy().tolist() for value in element.values]


def per_replica(**options: Any) -> Any:
    return Options(experimental_replication_mode=PER_REPLICA, **options)


ON_DEVICE = {"experimental_place_dataset_on_device": True, "experimental_fetch_to_device": False}


def test_called_once_with_the_input_context(strategy: Strategies) -> None:
    seen = []

    def dataset_fn(context: Any) -> Any:
        seen.append(
            (context.num_input_pipelines, context.input_pipeline_id, context.num_replicas_in_sync)
        )
        return Dataset.range(2).batch(context.get_per_replica_batch_size(4))

    distributed = distribute_from_function(dataset_fn, strategy(2))
    list(distributed)
    list(distributed)
    assert seen == [(1, 0, 2)]


def test_elements_are_dealt_in_order(strategy: Strategies) -> None:
    distributed = distribute_from_function(lambda _: Dataset.range(8).batch(2), strategy(2))
    assert [lists(x) for x in distributed] == [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]


def test_a_round_that_is_not_full_ends_in_empty_elements(strategy: Strategies) -> None:
    distributed = distribute_from_function(lambda _: Dataset.range(5).batch(2), strategy(4))
    assert [lists(x) for x in distributed] == [[[0, 1], [2, 3], [4], []]]


def test_static_shapes_where_every_round_is_full(strategy: Strategies) -> None:
    def dataset_fn(_: Any) -> Any:
        return Dataset.range(8).batch(2, drop_remainder=True)

    spec = tf.TensorSpec([2], tf.int64)
    assert distribute_from_function(dataset_fn, strategy(2)).element_spec == PerReplicaSpec(
        spec, spec
    )
    endless = distribute_from_function(lambda c: dataset_fn(c).repeat(), strategy(3))
    assert endless.element_spec == PerReplicaSpec(spec, spec, spec)
    assert lists(next(iter(endless))) == [[0, 1], [2, 3], [4, 5]]


def test_nothing_is_lost_of_full_batches_that_do_not_fill_the_last_round(
    strategy: Strategies,
) -> None:
    distributed = distribute_from_function(
        lambda _: Dataset.range(6).batch(2, drop_remainder=True), strategy(2)
    )
    spec = tf.TensorSpec([None], tf.int64)
    assert distributed.element_spec == PerReplicaSpec(spec, spec)
    assert [lists(x) for x in distributed] == [[[0, 1], [2, 3]], [[4, 5], []]]


def test_scalars_make_full_rounds_only(
    strategy: Strategies, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "tfdist"):
        distributed = distribute_from_function(lambda _: Dataset.range(5), strategy(2))
    assert "left out" in caplog.text
    assert [lists(x) for x in distributed] == [[0, 1], [2, 3]]


def test_scalars_that_fill_all_rounds(
    strategy: Strategies, caplog: pytest.LogCaptureFixture
) -> None:
    distributed = distribute_from_function(lambda _: Dataset.range(4), strategy(2))
    assert [lists(x) for x in distributed] == [[0, 1], [2, 3]]
    assert not caplog.records


def nested_dataset(_: Any) -> Any:
    ragged = tf.ragged.constant([[1], [2, 3], [4]])
    dataset = Dataset.from_tensor_slices(
        {"ragged": ragged, "sparse": ragged.to_sparse(), "text": ["a", "b", "c"]}
    )
    return dataset.batch(2).map(lambda x: (x, None))


@pytest.mark.parametrize("options", [None, per_replica()])
def test_nested_elements_and_their_empty_values(strategy: Strategies, options: Any) -> None:
    def dataset_fn(context: Any) -> Any:
        dataset = nested_dataset(context)
        return dataset.take(1) if context.input_pipeline_id else dataset

    fake = strategy(3 if options is None else 2)
    *_, (features, nothing) = distribute_from_function(dataset_fn, fake, options)
    assert nothing is None
    ragged, sparse, text = (features[key].values[-1] for key in ("ragged", "sparse", "text"))
    assert ragged.to_list() == []
    assert sparse.dense_shape.numpy().tolist() == [0, 2]
    assert text.shape == (0,)
    assert text.dtype == tf.string
    assert features["text"].values[-2].numpy().tolist() == [b"c"]


class Boxes(tf.experimental.BatchableExtensionType):
    corners: tf.Tensor


def test_empty_extension_types(strategy: Strategies) -> None:
    def dataset_fn(_: Any) -> Any:
        return Dataset.from_tensor_slices(Boxes(tf.zeros([3, 2]))).batch(2)

    (step,) = distribute_from_function(dataset_fn, strategy(3))
    assert [boxes.corners.shape for boxes in step.values] == [(2, 2), (1, 2), (0, 2)]


def own_dataset(context: Any) -> Any:
    return Dataset.range(3 + 2 * context.input_pipeline_id).batch(2)


OWN_STEPS = [[[0, 1], [0, 1]], [[2], [2, 3]], [[], [4]]]


@pytest.mark.parametrize(
    "options",
    [per_replica(), per_replica(experimental_fetch_to_device=False), per_replica(**ON_DEVICE)],
)
def test_replicas_read_their_own_datasets_until_all_end(strategy: Strategies, options: Any) -> None:
    distributed = distribute_from_function(own_dataset, strategy(2), options)
    assert [lists(x) for x in distributed] == OWN_STEPS


@pytest.mark.parametrize("options", [per_replica(), per_replica(**ON_DEVICE)])
def test_own_datasets_in_a_graph(strategy: Strategies, options: Any) -> None:
    distributed = distribute_from_function(own_dataset, strategy(2), options)

    @tf.function
    def rows(dataset: Any) -> Any:
        total, steps = tf.constant([0, 0]), 0
        for element in dataset:
            total += tf.stack([tf.size(value) for value in element.values])
            steps += 1
        return total, steps

    total, steps = rows(distributed)
    assert total.numpy().tolist() == [3, 5]
    assert int(steps) == 3


@pytest.mark.parametrize("options", [per_replica(), per_replica(**ON_DEVICE)])
def test_own_datasets_of_scalars_end_with_the_first(strategy: Strategies, options: Any) -> None:
    distributed = distribute_from_function(
        lambda context: Dataset.range(2 + context.input_pipeline_id), strategy(2), options
    )
    assert [lists(x) for x in distributed] == [[0, 0], [1, 1]]


def test_one_context_a_replica(strategy: Strategies) -> None:
    seen = []

    def dataset_fn(context: Any) -> Any:
        seen.append(
            (context.num_input_pipelines, context.input_pipeline_id, context.num_replicas_in_sync)
        )
        return Dataset.range(6).shard(context.num_input_pipelines, context.input_pipeline_id)

    distributed = distribute_from_function(dataset_fn, strategy(3), per_replica())
    assert [lists(x) for x in distributed] == [[0, 1, 2], [3, 4, 5]]
    assert seen == [(3, 0, 3), (3, 1, 3), (3, 2, 3)]


@pytest.mark.parametrize(
    ("options", "last"),
    [
        (per_replica(), "CPU:1"),
        (per_replica(experimental_fetch_to_device=False), "CPU:0"),
        (per_replica(**ON_DEVICE), "CPU:1"),
        (Options(), "CPU:1"),
        (Options(experimental_fetch_to_device=False), "CPU:0"),
    ],
)
def test_devices(strategy: Strategies, options: Any, last: str) -> None:
    distributed = distribute_from_function(lambda _: Dataset.range(4), strategy(2), options)
    element = next(iter(distributed))
    assert [value.backing_device[-5:] for value in element.values] == ["CPU:0", last]


@pytest.mark.parametrize("options", [None, per_replica()])
def test_one_replica_gets_plain_elements(strategy: Strategies, options: Any) -> None:
    distributed = distribute_from_function(
        lambda _: Dataset.range(3).batch(2), strategy(1), options
    )
    assert distributed.element_spec == tf.TensorSpec([None], tf.int64)
    assert [x.numpy().tolist() for x in distributed] == [[0, 1], [2]]


@pytest.mark.parametrize("size", [0, 1, 3])
def test_buffer_sizes(strategy: Strategies, size: int) -> None:
    options = Options(experimental_per_replica_buffer_size=size)
    distributed = distribute_from_function(lambda _: Dataset.range(4), strategy(2), options)
    assert [lists(x) for x in distributed] == [[0, 1], [2, 3]]


def test_shapes_may_differ_from_element_to_element(strategy: Strategies) -> None:
    def dataset_fn(_: Any) -> Any:
        return Dataset.from_tensors([1.0, 2.0]).concatenate(Dataset.from_tensors([3.0]))

    (step,) = distribute_from_function(dataset_fn, strategy(2))
    assert lists(step) == [[1.0, 2.0], [3.0]]


def test_what_is_no_dataset_is_refused(strategy: Strategies) -> None:
    with pytest.raises(DatasetError, match=r"dataset_fn returned.*builtins\.int"):
        distribute_from_function(lambda _: 5, strategy(2))


def test_own_datasets_of_different_types_are_refused(strategy: Strategies) -> None:
    def dataset_fn(context: Any) -> Any:
        dtype = tf.int32 if context.input_pipeline_id else tf.int64
        return Dataset.range(4, output_type=dtype)

    with pytest.raises(DatasetError, match="one structure with the same dtypes"):
        distribute_from_function(dataset_fn, strategy(2), per_replica())


@pytest.mark.parametrize(
    "options",
    [
        Options(experimental_place_dataset_on_device=True),
        per_replica(experimental_place_dataset_on_device=True, experimental_fetch_to_device=True),
        Options(experimental_per_replica_buffer_size=-1),
    ],
)
def test_options_that_do_not_go_together(strategy: Strategies, options: Any) -> None:
    with pytest.raises(OptionError):
        distribute_from_function(lambda _: Dataset.range(4), strategy(2), options)
