"""Reading from datasets that live on the replicas' devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import tensorflow as tf

from tfdist.input.elements import optional_of, share_spec
from tfdist.input.empty import can_be_empty, empty_value
from tfdist.input.placing import place_share
from tfdist.input.workers import InputWorkers
from tfdist.values import regroup


@attrs.frozen
class SeparateReader:
    """One dataset and one iterator a replica, which may end at different times.

    Args:
        workers: Host and devices.
        dataset_devices: Where each replica's dataset lives.
    """

    workers: InputWorkers
    dataset_devices: tuple[str, ...]

    def make_iterators(self, sources: Sequence[tf.data.Dataset]) -> tuple[Any, ...]:
        """Starts iterators over the datasets."""
        iterators = []
        for source, device in zip(sources, self.dataset_devices, strict=True):
            with tf.device(device):
                iterators.append(iter(source))
        return tuple(iterators)

    def iterator_specs(self, element_spec: Any) -> tuple[Any, ...]:
        """The types of the iterators."""
        return tuple(tf.data.IteratorSpec(s) for s in self._share_specs(element_spec))

    def dataset_specs(self, element_spec: Any) -> tuple[Any, ...]:
        """The types of the datasets."""
        return tuple(tf.data.DatasetSpec(s) for s in self._share_specs(element_spec))

    def next(self, iterators: Sequence[Any], element_spec: Any) -> Any:
        """The next step's element."""
        optionals = _optionals(iterators)
        return tf.cond(
            _has_step(optionals, element_spec),
            lambda: self._values(optionals, element_spec),
            lambda: _end(iterators),
        )

    def next_as_optional(self, iterators: Sequence[Any], element_spec: Any) -> Any:
        """The next step's element, or nothing at the end."""
        optionals = _optionals(iterators)
        return tf.cond(
            _has_step(optionals, element_spec),
            lambda: optional_of(self._values(optionals, element_spec), element_spec),
            lambda: tf.experimental.Optional.empty(element_spec),
        )

    def check_saveable(self) -> None:
        """Positions of tf.data iterators can be saved, wherever they live."""

    def _share_specs(self, element_spec: Any) -> list[Any]:
        return [share_spec(element_spec, i) for i in range(self.workers.replica_count)]

    def _values(self, optionals: Sequence[Any], element_spec: Any) -> Any:
        shares = []
        for i, (optional, device) in enumerate(zip(optionals, self.workers.devices, strict=True)):
            with tf.device(device):
                value = _value_or_empty(optional, share_spec(element_spec, i))
            shares.append(place_share(value, device))
        return regroup(shares)


def _optionals(iterators: Sequence[Any]) -> list[Any]:
    return [iterator.get_next_as_optional() for iterator in iterators]


def _has_step(optionals: Sequence[Any], element_spec: Any) -> Any:
    """Whether any replica has data; where none can be empty, whether all have."""
    present = [optional.has_value() for optional in optionals]
    reduce = tf.reduce_any if can_be_empty(share_spec(element_spec, 0)) else tf.reduce_all
    return reduce(present)


def _value_or_empty(optional: Any, spec: Any) -> Any:
    if not can_be_empty(spec):
        return optional.get_value()
    return tf.cond(optional.has_value(), optional.get_value, lambda: empty_value(spec))


def _end(iterators: Sequence[Any]) -> Any:
    # An iterator has ended, so this raises OutOfRangeError, in a graph as well.
    return regroup([iterator.get_next() for iterator in iterators])
