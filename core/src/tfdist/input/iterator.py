"""Iterators over distributed input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from tfdist.errors import DatasetError
from tfdist.input.elements import relaxed_element_spec
from tfdist.input.errors import EnumerateError, IterationContextError
from tfdist.input.readers import Reader
from tfdist.input.specs import InputSpec
from tfdist.replica.current import current_replica_id
from tfdist.tf_internals import datasets

_STATE = "iterator_{}"


class DistributedIterator(
    tf.__internal__.tracking.Trackable,
    tf.__internal__.CompositeTensor,
    tf.distribute.DistributedIterator,
):
    """Gives, step by step, one element for each replica.

    Its position can be saved with ``tf.train.Checkpoint(iterator=iterator)``. It can be passed to a
    ``tf.function`` without a new trace for each iterator, and looped over in one.

    *Runs on* the host that feeds the replicas; read it in cross-replica context.
    """

    def __init__(self, spec: DistributedIteratorSpec, iterators: Sequence[Any]) -> None:
        self._spec = spec
        self._iterators = tuple(iterators)

    @property
    def element_spec(self) -> Any:
        """The type of an element: ``PerReplicaSpec`` leaves, or plain ones on one replica."""
        return self._spec.element_spec

    def __iter__(self) -> DistributedIterator:
        return self

    def __next__(self) -> Any:
        """The next element.

        Raises:
            StopIteration: There is none left.
            ContextError: Called in the function that runs on each replica.
        """
        try:
            return self.get_next()
        except tf.errors.OutOfRangeError:
            raise StopIteration from None

    def get_next(self) -> Any:
        """The next element, one ``PerReplica`` a leaf.

        Raises:
            tf.errors.OutOfRangeError: There is none left on any replica.
            ContextError: Called in the function that runs on each replica.
        """
        self._check_context()
        return self._spec.reader.next(self._iterators, self.element_spec)

    def get_next_as_optional(self) -> Any:
        """The next element as a ``tf.experimental.Optional``, without a value at the end.

        Except for infinite input, its element spec leaves the first dimension open, as
        TensorFlow's does.

        Raises:
            ContextError: Called in the function that runs on each replica.
        """
        self._check_context()
        optional = self._spec.reader.next_as_optional(self._iterators, self.element_spec)
        if self._spec.is_infinite:
            return optional
        return datasets.optional_from_variant(
            datasets.optional_to_variant(optional), relaxed_element_spec(self.element_spec)
        )

    @property
    def _type_spec(self) -> DistributedIteratorSpec:
        return self._spec

    @property
    def _input_workers(self) -> Any:
        return self._spec._input_workers

    @property
    def _element_spec(self) -> Any:
        return self._spec.element_spec

    def __tf_tracing_type__(self, _: Any) -> DistributedIteratorSpec:
        return self._spec

    def _check_context(self) -> None:
        strategy = self._spec._strategy
        if current_replica_id() is not None:
            raise IterationContextError(
                "Cannot read a distributed iterator in replica context. Its elements belong to all "
                f"{self._spec._input_workers.replica_count} replicas, and this code runs on one. "
                "Read it outside and pass the element: strategy.run(fn, args=(next(iterator),))."
            )
        if tf.distribute.has_strategy() and tf.distribute.get_strategy() is not strategy:
            raise IterationContextError(
                f"Cannot read an iterator of {strategy!r} here. The scope of "
                f"{tf.distribute.get_strategy()!r} is in force, and elements fit the strategy "
                "that they were made for. Distribute the dataset with the strategy of this scope."
            )

    def _serialize_to_tensors(self) -> dict[str, Any]:
        self._spec.reader.check_saveable()
        try:
            return {
                _STATE.format(i): _state_of(iterator) for i, iterator in enumerate(self._iterators)
            }
        except (tf.errors.FailedPreconditionError, tf.errors.UnimplementedError) as error:
            raise DatasetError(
                "Cannot save the position of this iterator. A dataset in its pipeline holds state "
                f"that tf.data cannot serialize: {error.message} "
                "Replace that dataset (from_generator, unseeded random ops, py_function), or "
                "leave the iterator out of the checkpoint."
            ) from error

    def _copy_trackable_to_cpu(self, object_map: Any) -> None:
        for iterator in self._iterators:
            iterator._copy_trackable_to_cpu(object_map)
        object_map[self] = DistributedIterator(
            self._spec, [object_map[iterator] for iterator in self._iterators]
        )

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> Any:
        return [
            iterator._restore_from_tensors({"_STATE": restored_tensors[_STATE.format(i)]})
            for i, iterator in enumerate(self._iterators)
        ]


class DistributedIteratorSpec(InputSpec):
    """The type of a ``DistributedIterator``."""

    __slots__ = ()

    @property
    def value_type(self) -> type[DistributedIterator]:
        """The class of the values."""
        return DistributedIterator

    @property
    def reader(self) -> Reader:
        """How elements are read."""
        return self._reader

    @property
    def is_infinite(self) -> bool:
        """Whether the input is known never to end."""
        return bool(self._details == tf.data.INFINITE_CARDINALITY)

    def _serialize(self) -> tuple[Any, ...]:
        return (*super()._serialize(), self.is_infinite)

    @property
    def _component_specs(self) -> tuple[Any, ...]:
        return self._reader.iterator_specs(self._element_spec)

    def _to_components(self, value: DistributedIterator) -> tuple[Any, ...]:
        return value._iterators

    def _from_components(self, components: Sequence[Any]) -> DistributedIterator:
        return DistributedIterator(self, components)


def _state_of(iterator: Any) -> Any:
    return iterator._serialize_to_tensors()["_STATE"]


def refuse_enumerate(value: Any, start: Any) -> Any:
    """What ``enumerate`` of distributed input does in a ``tf.function``."""
    del start
    raise EnumerateError(
        f"Cannot enumerate a {type(value).__name__} in a tf.function. The loop is one of the "
        "graph, and the count would have to be a part of each element. "
        "Loop over it directly and keep a counter of your own."
    )


datasets.register_enumerate(DistributedIterator, refuse_enumerate)
