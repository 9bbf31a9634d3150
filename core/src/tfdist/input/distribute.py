"""From the user's datasets and functions to distributed input: what the strategies call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import tensorflow as tf

from tfdist.errors import DatasetError
from tfdist.input.dataset import DistributedDataset, DistributedDatasetSpec, Recipe, check_dataset
from tfdist.input.elements import relaxed_element_spec, spec_for_replicas
from tfdist.input.joining import (
    cardinality_of,
    deal_elements,
    equally_long,
    shares_in_turn,
    split_batches,
    without_added_prefetch,
    zip_datasets,
)
from tfdist.input.options import InputSettings, settings_for_dataset, settings_for_function
from tfdist.input.plan import plan_of
from tfdist.input.prefetching import PrefetchingReader
from tfdist.input.readers import JoinedReader, Reader
from tfdist.input.separate import SeparateReader
from tfdist.input.workers import InputWorkers, input_workers
from tfdist.values import PerReplica, regroup

_Sources = tuple[tf.data.Dataset, ...]

_SPLIT = "each global batch along its first dimension, equal shares in order until rows run out"
_DEAL = "consecutive elements to the replicas in turn, one each a step"
_ZIP = "one element of each replica's own dataset a step, until all have ended"
_ONE = "none; the one replica gets the elements as they are"


def distribute_dataset(
    dataset: tf.data.Dataset, strategy: Any, options: tf.distribute.InputOptions | None = None
) -> DistributedDataset:
    """Splits each global batch of a dataset over the replicas of a strategy.

    Nothing is lost, repeated or padded, and one batch is one step. Shares may be empty where a
    batch has fewer rows than there are replicas.

    Args:
        dataset: Batched: each part of an element has the global batch as its first dimension.
        strategy: Gives ``num_replicas_in_sync`` and ``extended.worker_devices``.
        options: How to fetch and buffer.

    Raises:
        DatasetError: ``dataset`` is no ``tf.data.Dataset``, or its elements cannot be split.
        OptionError: ``options`` do not go together.

    *Cost* none between replicas. *Runs on* the host.
    """
    check_dataset(dataset, "distribute this")
    workers = input_workers(strategy)
    settings = settings_for_dataset(options)

    def make(sources: _Sources) -> DistributedDataset:
        joined = split_batches(sources[0], workers.replica_count, settings.buffer_size)
        words = _ONE if workers.replica_count == 1 else _SPLIT
        plan = partial(plan_of, sources, workers, words, split=workers.replica_count > 1)
        return _assemble(joined, workers, settings, strategy, Recipe(sources, make, plan))

    with tf.device(workers.host):
        return make((dataset,))


def distribute_from_function(
    dataset_fn: Callable[[tf.distribute.InputContext], tf.data.Dataset],
    strategy: Any,
    options: tf.distribute.InputOptions | None = None,
) -> DistributedDataset:
    """Distributes datasets that a function makes, whose elements are for one replica each.

    The function is called once a pipeline, and consecutive elements go to the replicas in turn;
    with ``InputReplicationMode.PER_REPLICA`` it is called once a replica, and each replica reads
    its own dataset. A replica that is out of data gets empty elements until all are.

    Args:
        dataset_fn: Called with a ``tf.distribute.InputContext``; gives a ``tf.data.Dataset``.
        strategy: Gives ``num_replicas_in_sync`` and ``extended.worker_devices``.
        options: Replication mode, where datasets live, how to fetch and buffer.

    Raises:
        DatasetError: The function gave something else than a dataset, or datasets that differ.
        OptionError: ``options`` do not go together.

    *Cost* none between replicas. *Runs on* the host.
    """
    workers = input_workers(strategy)
    settings = settings_for_function(options)
    devices = _dataset_devices(workers, settings)
    sources = _call_dataset_fn(dataset_fn, workers, devices)

    def make(sources: _Sources) -> DistributedDataset:
        words = _function_words(workers, settings)
        plan = partial(plan_of, sources, workers, words, split=False)
        recipe = Recipe(sources, make, plan)
        if settings.on_device:
            return _separate(sources, SeparateReader(workers, devices), strategy, recipe)
        joined = _buffered(_join(sources, workers, settings), settings.buffer_size)
        return _assemble(joined, workers, settings, strategy, recipe)

    with tf.device(workers.host):
        return make(sources)


def values_from_function(
    value_fn: Callable[[tf.distribute.experimental.ValueContext], Any], strategy: Any
) -> Any:
    """One value a replica, made by a function.

    Args:
        value_fn: Called once a replica with its ``ValueContext``; gives a structure of tensors or
            other objects, of one structure on all replicas.
        strategy: Gives ``num_replicas_in_sync``.

    Returns:
        The structure with a ``PerReplica`` in place of each leaf, also on one replica.

    Raises:
        ValueMismatchError: The structures differ.
    """
    count = strategy.num_replicas_in_sync
    contexts = (tf.distribute.experimental.ValueContext(i, count) for i in range(count))
    return regroup([value_fn(context) for context in contexts], PerReplica, always_wrap=True)


def _call_dataset_fn(
    dataset_fn: Callable[[tf.distribute.InputContext], tf.data.Dataset],
    workers: InputWorkers,
    devices: Sequence[str],
) -> _Sources:
    sources = []
    for i, device in enumerate(devices):
        context = tf.distribute.InputContext(
            num_input_pipelines=len(devices),
            input_pipeline_id=i,
            num_replicas_in_sync=workers.num_replicas_in_sync,
        )
        with tf.device(device):
            source = dataset_fn(context)
        if not isinstance(source, tf.data.Dataset):
            raise DatasetError(
                f"Cannot distribute what dataset_fn returned for input pipeline {i}. It is a "
                f"{type(source).__module__}.{type(source).__qualname__}, and a tf.data.Dataset was "
                "expected. Return the dataset from the function, batched for one replica."
            )
        sources.append(source)
    return tuple(sources)


def _dataset_devices(workers: InputWorkers, settings: InputSettings) -> tuple[str, ...]:
    if not settings.per_replica:
        return (workers.host,)
    return workers.devices if settings.on_device else (workers.host,) * workers.replica_count


def _function_words(workers: InputWorkers, settings: InputSettings) -> str:
    if workers.replica_count == 1:
        return _ONE
    return _ZIP if settings.per_replica else _DEAL


def _join(sources: _Sources, workers: InputWorkers, settings: InputSettings) -> tf.data.Dataset:
    if workers.replica_count == 1:
        return sources[0]
    if settings.per_replica:
        return zip_datasets(sources)
    return deal_elements(sources[0], workers.replica_count)


def _assemble(
    joined: tf.data.Dataset,
    workers: InputWorkers,
    settings: InputSettings,
    strategy: Any,
    recipe: Recipe,
) -> DistributedDataset:
    element_spec, length = joined.element_spec, cardinality_of(joined)
    reader: Reader
    if settings.fetch_to_device and workers.has_accelerators and _fits_accelerators(element_spec):
        reader = PrefetchingReader(workers, settings.buffer_size)
        source = shares_in_turn(joined, workers.replica_count)
    else:
        reader = JoinedReader(workers, settings.fetch_to_device)
        source = joined
    spec = DistributedDatasetSpec(reader, element_spec, strategy, length)
    return DistributedDataset(spec, (source,), recipe)


def _separate(
    sources: _Sources, reader: SeparateReader, strategy: Any, recipe: Recipe
) -> DistributedDataset:
    element_spec = spec_for_replicas([source.element_spec for source in sources])
    if not equally_long(sources):
        element_spec = relaxed_element_spec(element_spec)
    spec = DistributedDatasetSpec(reader, element_spec, strategy, _longest(sources))
    return DistributedDataset(spec, sources, recipe)


def _longest(sources: _Sources) -> int:
    """The length of the longest dataset, as far as it is known."""
    lengths = {cardinality_of(source) for source in sources}
    for special in (tf.data.INFINITE_CARDINALITY, tf.data.UNKNOWN_CARDINALITY):
        if special in lengths:
            return int(special)
    return max(lengths)


def _buffered(dataset: tf.data.Dataset, buffer_size: int) -> tf.data.Dataset:
    """Prepares steps ahead of time, while the replicas compute."""
    if buffer_size > 0:
        return dataset.prefetch(buffer_size)
    return without_added_prefetch(dataset)


def _fits_accelerators(element_spec: Any) -> bool:
    specs = tf.nest.flatten(element_spec, expand_composites=True)
    return all(getattr(s, "dtype", None) not in (tf.string, tf.variant) for s in specs)
