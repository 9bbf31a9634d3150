"""Iterators: eager, in graphs, as arguments, in checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf

from tfdist.errors import ContextError, DatasetError, UnavailableError
from tfdist.input import DistributedIterator, distribute_dataset, distribute_from_function
from tfdist.input.workers import InputWorkers
from tfdist.values import PerReplicaSpec

Strategies = Callable[[int], Any]
Dataset = tf.data.Dataset


def lists(element: Any) -> list[list[Any]]:
    return [value.numpy().tolist() for value in element.values]


def total(element: Any) -> Any:
    return tf.add_n([tf.reduce_sum(value) for value in element.values])


@pytest.fixture(params=["host", "prefetching", "on device"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each way in which elements come to the replicas."""
    if request.param == "prefetching":
        monkeypatch.setattr(InputWorkers, "has_accelerators", True)
    return str(request.param)


@pytest.fixture
def distributed(kind: str, strategy: Strategies) -> Any:
    """Two replicas that see 0 1 | 2 3, then 4 | nothing."""
    if kind != "on device":
        return distribute_dataset(batches(), strategy(2))
    options = tf.distribute.InputOptions(
        experimental_replication_mode=tf.distribute.InputReplicationMode.PER_REPLICA,
        experimental_place_dataset_on_device=True,
        experimental_fetch_to_device=False,
    )

    def dataset_fn(context: Any) -> Any:
        return [Dataset.range(5).batch(2).shard(2, 0), Dataset.range(2, 4).batch(2)][
            context.input_pipeline_id
        ]

    return distribute_from_function(dataset_fn, strategy(2), options)


def batches() -> Any:
    sizes = Dataset.range(4).batch(4)
    return sizes.concatenate(Dataset.range(4, 5).batch(4))


STEPS = [[[0, 1], [2, 3]], [[4], []]]


def test_types(distributed: Any) -> None:
    assert isinstance(distributed, tf.distribute.DistributedDataset)
    assert isinstance(iter(distributed), tf.distribute.DistributedIterator)
    spec = tf.TensorSpec([None], tf.int64)
    assert distributed.element_spec == PerReplicaSpec(spec, spec)
    assert iter(distributed).element_spec == distributed.element_spec


def test_next(distributed: Any) -> None:
    iterator = iter(distributed)
    assert iter(iterator) is iterator
    assert [lists(next(iterator)), lists(iterator.get_next())] == STEPS
    with pytest.raises(tf.errors.OutOfRangeError):
        iterator.get_next()
    with pytest.raises(StopIteration):
        next(iterator)


def test_optionals(distributed: Any) -> None:
    iterator = iter(distributed)
    optionals = [iterator.get_next_as_optional() for _ in range(3)]
    assert [bool(optional.has_value()) for optional in optionals] == [True, True, False]
    assert [lists(optional.get_value()) for optional in optionals[:2]] == STEPS
    with pytest.raises(tf.errors.InvalidArgumentError):
        optionals[2].get_value()


def test_loop_over_a_dataset_in_a_graph(distributed: Any) -> None:
    @tf.function
    def fold(dataset: Any) -> Any:
        state, steps = tf.constant(0, tf.int64), 0
        for element in dataset:
            state += total(element)
            steps += 1
        return state, steps

    assert [int(x) for x in fold(distributed)] == [10, 2]
    assert [int(x) for x in fold(distributed)] == [10, 2]


def test_loop_over_a_captured_dataset(distributed: Any) -> None:
    @tf.function
    def fold() -> Any:
        state = tf.constant(0, tf.int64)
        for element in distributed:
            state += total(element)
        return state

    assert int(fold()) == 10


def test_loop_over_an_iterator_goes_on_where_it_stopped(distributed: Any) -> None:
    @tf.function
    def first_step(iterator: Any) -> Any:
        state = tf.constant(0, tf.int64)
        for element in iterator:
            state += total(element)
            if state > 0:
                break
        return state

    iterator = iter(distributed)
    assert [int(first_step(iterator)) for _ in range(3)] == [6, 4, 0]


def test_continue(distributed: Any) -> None:
    @tf.function
    def second_only(dataset: Any) -> Any:
        state, step = tf.constant(0, tf.int64), 0
        for element in dataset:
            step += 1
            if step == 1:
                continue
            state += total(element)
        return state

    assert int(second_only(distributed)) == 4


def test_iter_and_next_in_a_graph(distributed: Any) -> None:
    @tf.function
    def two(dataset: Any) -> Any:
        iterator = iter(dataset)
        return next(iterator).values, iterator.get_next().values

    found = tf.nest.map_structure(lambda x: x.numpy().tolist(), two(distributed))
    assert [list(step) for step in found] == STEPS


def test_no_new_trace_for_each_iterator(distributed: Any) -> None:
    traces = []

    @tf.function
    def step(iterator: Any) -> Any:
        traces.append(iterator)
        return total(next(iterator))

    for _ in range(3):
        iterator = iter(distributed)
        assert [int(step(iterator)), int(step(iterator))] == [6, 4]
        with pytest.raises(tf.errors.OutOfRangeError):
            step(iterator)
    assert len(traces) == 1
    assert isinstance(traces[0], DistributedIterator)


def test_while_loop_of_optionals(distributed: Any) -> None:
    @tf.function
    def fold(iterator: Any, limit: Any) -> Any:
        def more(step: Any, optional: Any, state: Any) -> Any:
            return tf.logical_and(step < limit, optional.has_value())

        def body(step: Any, optional: Any, state: Any) -> Any:
            state += total(optional.get_value())
            return step + 1, iterator.get_next_as_optional(), state

        start = (0, iterator.get_next_as_optional(), tf.constant(0, tf.int64))
        return tf.while_loop(more, body, start)[2]

    assert int(fold(iter(distributed), 1)) == 6
    assert int(fold(iter(distributed), 9)) == 10


def test_autograph_while(distributed: Any) -> None:
    @tf.function
    def fold(dataset: Any) -> Any:
        iterator, state, go_on = iter(dataset), tf.constant(0, tf.int64), tf.constant(True)
        while go_on:
            optional = iterator.get_next_as_optional()
            if optional.has_value():
                state += total(optional.get_value())
            else:
                go_on = tf.constant(False)
        return state

    assert int(fold(distributed)) == 10


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function])
def test_reduce(distributed: Any, wrap: Any) -> None:
    fold = wrap(
        lambda: distributed.reduce(tf.constant(0, tf.int64), lambda state, x: state + total(x))
    )
    assert int(fold()) == 10


def test_shapes_of_optionals_stay_static_for_endless_input(strategy: Strategies) -> None:
    dataset = Dataset.range(4).batch(4, drop_remainder=True)
    endless = iter(distribute_dataset(dataset.repeat(), strategy(2)))
    static, open_ended = tf.TensorSpec([2], tf.int64), tf.TensorSpec([None], tf.int64)
    assert endless.get_next_as_optional().element_spec == PerReplicaSpec(static, static)
    finite = iter(distribute_dataset(dataset, strategy(2)))
    optional = finite.get_next_as_optional()
    assert optional.element_spec == PerReplicaSpec(open_ended, open_ended)
    assert finite.element_spec == PerReplicaSpec(static, static)


def test_specs_merge_and_compare(strategy: Strategies) -> None:
    fake = strategy(2)
    narrow, wide = (
        iter(distribute_dataset(Dataset.range(4).batch(4, drop_remainder=drop), fake))._type_spec
        for drop in (True, False)
    )
    assert narrow != wide
    assert narrow.is_subtype_of(wide)
    assert not wide.is_subtype_of(narrow)
    assert narrow.most_specific_compatible_type(wide) == wide
    other = iter(distribute_dataset(Dataset.range(4).batch(4), strategy(2)))._type_spec
    assert other != wide
    assert other.most_specific_common_supertype([wide]) is None


def test_spec_round_trip(distributed: Any) -> None:
    for value in (distributed, iter(distributed)):
        spec = value._type_spec
        tf.nest.assert_same_structure(value, spec, expand_composites=True)
        again = spec._from_components(spec._to_components(value))
        assert [lists(x) for x in again] == STEPS
        assert again._input_workers == value._input_workers


def test_relaxed_tracing_of_changing_shapes(strategy: Strategies) -> None:
    fake = strategy(2)
    traces = []

    @tf.function(reduce_retracing=True)
    def step(iterator: Any) -> Any:
        traces.append(1)
        return total(next(iterator))

    for size in (2, 4, 6, 8):
        dataset = Dataset.range(size).batch(size, drop_remainder=True)
        assert int(step(iter(distribute_dataset(dataset, fake)))) == size * (size - 1) // 2
    assert len(traces) == 2


def test_a_dataset_distributed_in_a_graph(strategy: Strategies) -> None:
    fake = strategy(2)

    @tf.function
    def fold() -> Any:
        state = tf.constant(0, tf.int64)
        for element in distribute_dataset(Dataset.range(5).batch(4), fake):
            state += total(element)
        return state

    assert int(fold()) == 10


@pytest.mark.parametrize("of", [iter, lambda x: x])
def test_enumerate_in_a_graph_is_refused(distributed: Any, of: Any) -> None:
    @tf.function
    def count(iterable: Any) -> None:
        for _ in enumerate(iterable):
            pass

    with pytest.raises(ContextError, match="counter") as caught:
        count(of(distributed))
    assert isinstance(caught.value, NotImplementedError)


def test_replica_context_is_refused(strategy: Strategies, monkeypatch: pytest.MonkeyPatch) -> None:
    iterator = iter(distribute_dataset(Dataset.range(4).batch(2), strategy(2)))
    monkeypatch.setattr("tfdist.input.iterator.current_replica_id", lambda: 0)
    with pytest.raises(ContextError, match="replica context") as caught:
        next(iterator)
    assert isinstance(caught.value, ValueError)
    with pytest.raises(ContextError):
        iterator.get_next_as_optional()


def test_another_strategys_scope_is_refused(strategy: Strategies) -> None:
    iterator = iter(distribute_dataset(Dataset.range(4).batch(2), strategy(2)))
    with tf.distribute.OneDeviceStrategy("CPU:0").scope(), pytest.raises(ContextError):
        next(iterator)


def test_position_in_a_checkpoint(kind: str, distributed: Any, tmp_path: Path) -> None:
    iterator = iter(distributed)
    next(iterator)
    checkpoint = tf.train.Checkpoint(iterator=iterator)
    if kind == "prefetching":
        with pytest.raises(UnavailableError, match="experimental_fetch_to_device=False"):
            checkpoint.save(tmp_path / "ckpt")
        return
    path = checkpoint.save(tmp_path / "ckpt")
    assert [lists(x) for x in iterator] == STEPS[1:]
    again = iter(distributed)
    tf.train.Checkpoint(iterator=again).restore(path).assert_consumed()
    assert [lists(x) for x in again] == STEPS[1:]


def test_position_after_shuffling_and_prefetching(strategy: Strategies, tmp_path: Path) -> None:
    def start() -> Any:
        dataset = Dataset.range(20).shuffle(20, seed=1).batch(2).prefetch(3)
        return iter(distribute_dataset(dataset, strategy(2)))

    iterator = start()
    for _ in range(4):
        next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).save(tmp_path / "ckpt")
    rest = [lists(x) for x in iterator]
    again = start()
    tf.train.Checkpoint(iterator=again).restore(path)
    assert len(rest) == 6
    assert [lists(x) for x in again] == rest


@pytest.mark.parametrize("saved_on", [1, 2, 4])
@pytest.mark.parametrize("restored_on", [1, 2, 4])
def test_position_on_another_replica_count(
    strategy: Strategies, tmp_path: Path, saved_on: int, restored_on: int
) -> None:
    def start(replicas: int) -> Any:
        dataset = Dataset.range(20).shuffle(20, seed=3).map(lambda x: (x, None)).batch(4)
        return iter(distribute_dataset(dataset.prefetch(2), strategy(replicas)))

    def rows(element: Any) -> Any:
        values = element[0].values if hasattr(element[0], "values") else [element[0]]
        return tf.concat(values, 0).numpy().tolist()

    iterator = start(saved_on)
    for _ in range(2):
        next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).save(tmp_path / "ckpt")
    again = start(restored_on)
    tf.train.Checkpoint(iterator=again).restore(path).assert_consumed()
    rest = [rows(x) for x in again]
    assert len(rest) == 3
    assert rest == [rows(x) for x in iterator]


@pytest.mark.parametrize("own", [False, True])
def test_position_of_input_from_functions(strategy: Strategies, tmp_path: Path, own: bool) -> None:
    modes = tf.distribute.InputReplicationMode
    options = tf.distribute.InputOptions(
        experimental_replication_mode=modes.PER_REPLICA if own else modes.PER_WORKER
    )
    distributed = distribute_from_function(
        lambda context: Dataset.range(7 + context.input_pipeline_id).batch(2), strategy(2), options
    )
    iterator = iter(distributed)
    next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).save(tmp_path / "ckpt")
    rest = [lists(x) for x in iterator]
    again = iter(distributed)
    tf.train.Checkpoint(iterator=again).restore(path)
    assert [lists(x) for x in again] == rest == [lists(x) for x in distributed][1:]


def test_position_that_cannot_be_saved(strategy: Strategies, tmp_path: Path) -> None:
    def numbers() -> Iterator[list[int]]:
        yield [1, 2]

    dataset = Dataset.from_generator(numbers, output_signature=tf.TensorSpec([None], tf.int64))
    iterator = iter(distribute_dataset(dataset, strategy(2)))
    with pytest.raises(DatasetError, match="from_generator"):
        tf.train.Checkpoint(iterator=iterator).save(tmp_path / "ckpt")
    assert lists(next(iterator)) == [[1], [2]]


@pytest.mark.tfdist_leaves("threads")
def test_asynchronous_checkpoints(distributed: Any, kind: str, tmp_path: Path) -> None:
    if kind == "prefetching":
        pytest.skip("the position cannot be saved")
    iterator = iter(distributed)
    next(iterator)
    options = tf.train.CheckpointOptions(experimental_enable_async_checkpoint=True)
    checkpoint = tf.train.Checkpoint(iterator=iterator)
    path = checkpoint.save(tmp_path / "ckpt", options=options)
    checkpoint.sync()
    again = iter(distributed)
    tf.train.Checkpoint(iterator=again).restore(path)
    assert [lists(x) for x in again] == STEPS[1:]
