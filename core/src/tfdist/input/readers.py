"""Three ways to get one step's data from tf.data iterators.

A reader is a frozen record: it says how iterators are made from datasets, what their types are and
how an element is read from them. It keeps no state, so that the iterators may come from a graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import attrs
import tensorflow as tf

from tfdist.errors import UnavailableError
from tfdist.input.empty import empty_value, relaxed
from tfdist.input.placing import place_element, place_share
from tfdist.input.workers import InputWorkers
from tfdist.tf_internals import datasets
from tfdist.values import PerReplicaSpec, regroup

_Datasets = Sequence[tf.data.Dataset]


class Reader(Protocol):
    """How a distributed iterator reads."""

    @property
    def workers(self) -> InputWorkers:
        """The pipeline's host and devices."""

    def make_iterators(self, sources: _Datasets) -> tuple[Any, ...]:
        """Starts iterators over the datasets."""

    def iterator_specs(self, element_spec: Any) -> tuple[Any, ...]:
        """The types of what ``make_iterators`` returns."""

    def dataset_specs(self, element_spec: Any) -> tuple[Any, ...]:
        """The types of the datasets that ``make_iterators`` takes."""

    def next(self, iterators: Sequence[Any], element_spec: Any) -> Any:
        """The next step's element; raises OutOfRangeError at the end."""

    def next_as_optional(self, iterators: Sequence[Any], element_spec: Any) -> Any:
        """The next step's element, or an Optional without a value at the end."""

    def check_saveable(self) -> None:
        """Raises where the position cannot be saved."""


@attrs.frozen
class JoinedReader:
    """One iterator on the host whose element is the whole step.

    Args:
        workers: Host and devices.
        fetch_to_device: Whether each share is put on its replica's device.
    """

    workers: InputWorkers
    fetch_to_device: bool = True

    def make_iterators(self, sources: _Datasets) -> tuple[Any, ...]:
        return (iter(sources[0]),)

    def iterator_specs(self, element_spec: Any) -> tuple[Any, ...]:
        return (tf.data.IteratorSpec(element_spec),)

    def dataset_specs(self, element_spec: Any) -> tuple[Any, ...]:
        return (tf.data.DatasetSpec(element_spec),)

    def next(self, iterators: Sequence[Any], element_spec: Any) -> Any:
        del element_spec
        return self._place(iterators[0].get_next())

    def next_as_optional(self, iterators: Sequence[Any], element_spec: Any) -> Any:
        del element_spec
        return iterators[0].get_next_as_optional()

    def check_saveable(self) -> None:
        """Positions of host iterators can be saved."""

    def _place(self, element: Any) -> Any:
        if not self.fetch_to_device:
            return element
        return place_element(element, self.workers.devices)


@attrs.frozen
class PrefetchingReader:
    """One pipeline on the host that fills a buffer on each device ahead of time.

    Args:
        workers: Host and devices.
        buffer_size: Elements to keep ready on each device.
    """

    workers: InputWorkers
    buffer_size: int = 1

    def make_iterators(self, sources: _Datasets) -> tuple[Any, ...]:
        host = self.workers.host
        with tf.device(host):
            iterator = datasets.OwnedMultiDeviceIterator(
                sources[0],
                self.workers.devices,
                max_buffer_size=self.buffer_size,
                prefetch_buffer_size=self.buffer_size,
                source_device=host,
            )
        return (iterator,)

    def iterator_specs(self, element_spec: Any) -> tuple[Any, ...]:
        spec = share_spec(element_spec, 0)
        return (datasets.MultiDeviceIteratorSpec(self.workers.devices, self.workers.host, spec),)

    def dataset_specs(self, element_spec: Any) -> tuple[Any, ...]:
        return (tf.data.DatasetSpec(share_spec(element_spec, 0)),)

    def next(self, iterators: Sequence[Any], element_spec: Any) -> Any:
        del element_spec
        return regroup(iterators[0].get_next())

    def next_as_optional(self, iterators: Sequence[Any], element_spec: Any) -> Any:
        # The stream holds an element for every replica each step, so one of them tells for all.
        optionals = iterators[0].get_next_as_optional()
        spec = element_spec
        return tf.cond(
            optionals[0].has_value(),
            lambda: _optional_of(regroup([o.get_value() for o in optionals]), spec),
            lambda: tf.experimental.Optional.empty(spec),
        )

    def check_saveable(self) -> None:
        raise UnavailableError(
            "Cannot save the position of an iterator that prefetches to accelerators. The runtime "
            "cannot serialise the buffers on the devices, and elements in them would be lost. "
            "Pass InputOptions(experimental_fetch_to_device=False) when you distribute the dataset."
        )


@attrs.frozen
class SeparateReader:
    """One dataset and one iterator a replica, which may end at different times.

    Args:
        workers: Host and devices.
        dataset_devices: Where each replica's dataset lives.
    """

    workers: InputWorkers
    dataset_devices: tuple[str, ...]

    def make_iterators(self, sources: _Datasets) -> tuple[Any, ...]:
        iterators = []
        for source, device in zip(sources, self.dataset_devices, strict=True):
            with tf.device(device):
                iterators.append(iter(source))
        return tuple(iterators)

    def iterator_specs(self, element_spec: Any) -> tuple[Any, ...]:
        return tuple(tf.data.IteratorSpec(s) for s in self._share_specs(element_spec))

    def dataset_specs(self, element_spec: Any) -> tuple[Any, ...]:
        return tuple(tf.data.DatasetSpec(s) for s in self._share_specs(element_spec))

    def next(self, iterators: Sequence[Any], element_spec: Any) -> Any:
        optionals = self._optionals(iterators)
        return tf.cond(
            _any_value(optionals),
            lambda: self._values(optionals),
            lambda: self._end(iterators),
        )

    def next_as_optional(self, iterators: Sequence[Any], element_spec: Any) -> Any:
        optionals = self._optionals(iterators)
        return tf.cond(
            _any_value(optionals),
            lambda: _optional_of(self._values(optionals), element_spec),
            lambda: tf.experimental.Optional.empty(element_spec),
        )

    def check_saveable(self) -> None:
        """Positions of tf.data iterators can be saved, wherever they live."""

    def _share_specs(self, element_spec: Any) -> list[Any]:
        return [share_spec(element_spec, i) for i in range(self.workers.replica_count)]

    def _optionals(self, iterators: Sequence[Any]) -> list[Any]:
        return [iterator.get_next_as_optional() for iterator in iterators]

    def _values(self, optionals: Sequence[Any]) -> Any:
        shares = [
            place_share(_value_or_empty(optional), device)
            for optional, device in zip(optionals, self.workers.devices, strict=True)
        ]
        return regroup(shares)

    def _end(self, iterators: Sequence[Any]) -> Any:
        # Every iterator has ended, so this raises OutOfRangeError, in a graph as well.
        return regroup([iterator.get_next() for iterator in iterators])


def share_spec(element_spec: Any, replica_id: int) -> Any:
    """The element spec of one replica."""
    return tf.nest.map_structure(
        lambda s: s.value_specs[replica_id] if isinstance(s, PerReplicaSpec) else s, element_spec
    )


def spec_for_replicas(specs: Sequence[Any]) -> Any:
    """The element spec whose shares have ``specs``, one a replica."""
    if len(specs) == 1:
        return specs[0]
    return tf.nest.map_structure(lambda *leaf: PerReplicaSpec(*leaf), *specs)


def relaxed_element_spec(element_spec: Any) -> Any:
    """The element spec with the first dimension unknown on each replica."""
    return tf.nest.map_structure(
        lambda s: (
            PerReplicaSpec(*(relaxed(v) for v in s.value_specs))
            if isinstance(s, PerReplicaSpec)
            else relaxed(s)
        ),
        element_spec,
    )


def _any_value(optionals: Sequence[Any]) -> Any:
    return tf.reduce_any([optional.has_value() for optional in optionals])


def _value_or_empty(optional: Any) -> Any:
    return tf.cond(
        optional.has_value(),
        optional.get_value,
        lambda: empty_value(optional.element_spec),
    )


def _optional_of(element: Any, element_spec: Any) -> Any:
    optional = tf.experimental.Optional.from_value(element)
    return datasets.optional_from_variant(datasets.optional_to_variant(optional), element_spec)
