"""How one step's data is read from tf.data iterators.

A reader is a frozen record: it says how iterators are made from datasets, what their types are and
how an element is read from them. It keeps no state, so that the iterators may come from a graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import attrs
import tensorflow as tf

from tfdist.input.placing import place_element
from tfdist.input.workers import InputWorkers

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
        """Starts iterators over the datasets."""
        return (iter(sources[0]),)

    def iterator_specs(self, element_spec: Any) -> tuple[Any, ...]:
        """The types of the iterators."""
        return (tf.data.IteratorSpec(element_spec),)

    def dataset_specs(self, element_spec: Any) -> tuple[Any, ...]:
        """The types of the datasets."""
        return (tf.data.DatasetSpec(element_spec),)

    def next(self, iterators: Sequence[Any], element_spec: Any) -> Any:
        """The next step's element."""
        del element_spec
        return self._place(iterators[0].get_next())

    def next_as_optional(self, iterators: Sequence[Any], element_spec: Any) -> Any:
        """The next step's element, or nothing at the end."""
        del element_spec
        return iterators[0].get_next_as_optional()

    def check_saveable(self) -> None:
        """Positions of host iterators can be saved."""

    def _place(self, element: Any) -> Any:
        if not self.fetch_to_device:
            return element
        return place_element(element, self.workers.devices, self.workers.host)
