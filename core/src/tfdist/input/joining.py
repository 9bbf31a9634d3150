"""tf.data pipelines whose element is a whole step: one ``PerReplica`` a leaf.

Doing this inside tf.data means one ``get_next`` a step, whatever the replica count, and a state
that tf.data can save and restore.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from tfdist.errors import DatasetError
from tfdist.input.empty import can_be_empty, empty_value, relaxed
from tfdist.input.shares import check_splittable, split_element, split_spec
from tfdist.tf_internals import datasets
from tfdist.values import regroup, select_replica

_log = logging.getLogger(__name__)


def split_batches(
    dataset: tf.data.Dataset, replica_count: int, buffer_size: int
) -> tf.data.Dataset:
    """Splits each global batch over the replicas.

    Batches are buffered whole and split when they are read, and the split is a step of its own
    also on one replica: so a saved position fits whatever the replica count.

    Args:
        dataset: The global batches.
        replica_count: How many replicas share each.
        buffer_size: Batches to read ahead.

    Raises:
        UnsplittableError: A part of the elements cannot be split.
    """
    spec = dataset.element_spec
    ahead = dataset.prefetch(buffer_size) if buffer_size else dataset
    if replica_count == 1:
        return _each(datasets.as_components(ahead), lambda parts: parts, spec)
    check_splittable(spec, replica_count)
    return _each(
        ahead,
        lambda element: tuple(
            tf.nest.flatten(split_element(element, replica_count), expand_composites=True)
        ),
        split_spec(spec, replica_count),
    )


def deal_elements(dataset: tf.data.Dataset, replica_count: int) -> tf.data.Dataset:
    """Gives consecutive elements to the replicas in turn, one each a step.

    Where the elements may not fill the last step, the replicas left without get an empty element.
    Elements that cannot be empty (scalars) are dropped from a step that they do not fill.
    """
    spec = dataset.element_spec
    fills_up = _fills_up(dataset, replica_count)
    if not fills_up and not can_be_empty(spec):
        _warn_incomplete(spec)
    elif not fills_up:
        spec = relaxed(spec)
    stream = _map(dataset, lambda *parts: _pack(_element(parts, dataset.element_spec)))
    if not fills_up and can_be_empty(spec):
        filler = _map(tf.data.Dataset.from_tensors(0), lambda _: _pack(empty_value(spec)))
        stream = stream.concatenate(filler.repeat(replica_count - 1))
    rounds = stream.batch(replica_count, drop_remainder=True)
    return _map(
        rounds, lambda variants: _unpack_round(variants, spec, replica_count), "deal_elements"
    )


def zip_datasets(sources: Sequence[tf.data.Dataset]) -> tf.data.Dataset:
    """Reads one dataset a replica side by side until all are exhausted.

    A replica whose dataset has ended gets empty elements. Where none exist (scalars), the end of
    the first dataset ends the input.
    """
    _check_same_structure(sources)
    spec = sources[0].element_spec
    if equally_long(sources) or not can_be_empty(spec):
        if not equally_long(sources):
            _warn_incomplete(spec)
        rounds = tf.data.Dataset.zip(tuple(sources))
        return _map(rounds, lambda *elements: regroup(elements), "zip_replicas")
    endless = [_endless(source) for source in sources]
    rounds = tf.data.Dataset.zip(tuple(endless))
    rounds = rounds.take_while(
        _as_written(lambda *pairs: tf.reduce_any([present for present, _ in pairs]))
    )
    return _map(rounds, lambda *pairs: regroup([element for _, element in pairs]), "zip_replicas")


def shares_in_turn(dataset: tf.data.Dataset, replica_count: int) -> tf.data.Dataset:
    """Takes the steps apart again: the element of replica 0, of replica 1, … of each step."""
    spec = dataset.element_spec

    def one_step(*parts: Any) -> tf.data.Dataset:
        element = _element(parts, spec)
        shares = [select_replica(i, element) for i in range(replica_count)]
        stream = tf.data.Dataset.from_tensors(shares[0])
        for share in shares[1:]:
            stream = stream.concatenate(tf.data.Dataset.from_tensors(share))
        return stream

    return dataset.flat_map(_as_written(one_step))


def cardinality_of(dataset: tf.data.Dataset) -> int:
    """How many elements a dataset has; ``tf.data.UNKNOWN_CARDINALITY`` while a graph is built."""
    if not tf.executing_eagerly():
        return int(tf.data.UNKNOWN_CARDINALITY)
    return int(dataset.cardinality().numpy())


def _element(parts: tuple[Any, ...], spec: Any) -> Any:
    """tf.data calls functions with a tuple element unpacked; this packs it again."""
    is_plain_tuple = isinstance(spec, tuple) and not hasattr(spec, "_fields")
    return parts if is_plain_tuple else parts[0]


def _as_written(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as it is, without autograph, which has nothing to convert here."""
    return tf.autograph.experimental.do_not_convert(function)


def _map(
    dataset: tf.data.Dataset, function: Callable[..., Any], name: str | None = None
) -> tf.data.Dataset:
    return dataset.map(_as_written(function), name=name)


def _each(
    dataset: tf.data.Dataset, function: Callable[[Any], tuple[Any, ...]], element_spec: Any
) -> tf.data.Dataset:
    """Applies a function that gives the components of ``element_spec``, with no buffer after it.

    tf.data turns a map into a parallel one, which has a buffer; a scan stays as it is.
    """
    scanned = dataset.scan(
        tf.constant(0, tf.int64), _as_written(lambda state, element: (state, function(element)))
    )
    return datasets.retyped(without_added_prefetch(scanned), element_spec)


def without_added_prefetch(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """The dataset without the prefetch that tf.data puts at the end of any other."""
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    return dataset.with_options(options)


def _pack(element: Any) -> Any:
    return datasets.optional_to_variant(tf.experimental.Optional.from_value(element))


def _unpack_round(variants: Any, spec: Any, replica_count: int) -> Any:
    return regroup(
        [
            datasets.optional_from_variant(variants[i], spec).get_value()
            for i in range(replica_count)
        ]
    )


def _fills_up(dataset: tf.data.Dataset, replica_count: int) -> bool:
    cardinality = cardinality_of(dataset)
    if cardinality == tf.data.INFINITE_CARDINALITY:
        return True
    return cardinality >= 0 and cardinality % replica_count == 0


def equally_long(sources: Sequence[tf.data.Dataset]) -> bool:
    """Whether datasets are known to have one length."""
    lengths = {cardinality_of(source) for source in sources}
    return len(lengths) == 1 and lengths != {tf.data.UNKNOWN_CARDINALITY}


def _endless(source: tf.data.Dataset) -> tf.data.Dataset:
    """The elements with True, then for ever an empty one with False."""
    spec = relaxed(source.element_spec)
    present = _map(source, lambda *parts: (True, _element(parts, source.element_spec)))
    absent = _map(tf.data.Dataset.from_tensors(0), lambda _: (False, empty_value(spec)))
    return present.concatenate(absent.repeat())


def _check_same_structure(sources: Sequence[tf.data.Dataset]) -> None:
    first = sources[0].element_spec
    for i, source in enumerate(sources[1:], 1):
        spec = source.element_spec
        try:
            tf.nest.assert_same_structure(first, spec)
            tf.nest.map_structure(_check_same_dtype, first, spec)
        except (TypeError, ValueError) as error:
            raise DatasetError(
                "Cannot read the datasets of the replicas side by side. dataset_fn gave elements "
                f"{first} for input pipeline 0 and {spec} for {i}, and one structure with the same "
                "dtypes was expected. Return datasets of one element type for every InputContext."
            ) from error


def _check_same_dtype(first: Any, second: Any) -> None:
    if getattr(first, "dtype", None) != getattr(second, "dtype", None):
        raise TypeError(f"{first} and {second} differ in dtype")


def _warn_incomplete(spec: Any) -> None:
    _log.warning(
        "The elements %s have no batch dimension, so a replica that is out of data cannot be given "
        "an empty one: a last step that has no element for every replica is left out. Batch the "
        "dataset to keep it.",
        spec,
    )
