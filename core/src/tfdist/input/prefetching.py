"""Reading for accelerators, whose memory is filled ahead of time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import tensorflow as tf

from tfdist.errors import UnavailableError
from tfdist.input.elements import optional_of, share_spec
from tfdist.input.workers import InputWorkers
from tfdist.tf_internals import datasets
from tfdist.values import regroup


@attrs.frozen
class PrefetchingReader:
    """One pipeline on the host that fills a buffer on each device ahead of time.

    Args:
        workers: Host and devices.
        buffer_size: Elements to keep ready on each device.
    """

    workers: InputWorkers
    buffer_size: int = 1

    def make_iterators(self, sources: Sequence[tf.data.Dataset]) -> tuple[Any, ...]:
        """Starts iterators over the datasets."""
        workers = self.workers
        with tf.device(workers.host):
            iterator = datasets.multi_device_iterator(
                sources[0], workers.devices, workers.host, self.buffer_size
            )
        return (iterator,)

    def iterator_specs(self, element_spec: Any) -> tuple[Any, ...]:
        """The types of the iterators."""
        spec = share_spec(element_spec, 0)
        return (datasets.MultiDeviceIteratorSpec(self.workers.devices, self.workers.host, spec),)

    def dataset_specs(self, element_spec: Any) -> tuple[Any, ...]:
        """The types of the datasets."""
        return (tf.data.DatasetSpec(share_spec(element_spec, 0)),)

    def next(self, iterators: Sequence[Any], element_spec: Any) -> Any:
        """The next step's element."""
        del element_spec
        return regroup(iterators[0].get_next())

    def next_as_optional(self, iterators: Sequence[Any], element_spec: Any) -> Any:
        """The next step's element, or nothing at the end."""
        # The stream holds an element for every replica each step, so one of them tells for all.
        optionals = iterators[0].get_next_as_optional()
        spec = element_spec
        return tf.cond(
            optionals[0].has_value(),
            lambda: optional_of(regroup([o.get_value() for o in optionals]), spec),
            lambda: tf.experimental.Optional.empty(spec),
        )

    def check_saveable(self) -> None:
        """Raises: what is in the buffers on the devices cannot be saved."""
        raise UnavailableError(
            "Cannot save the position of an iterator that prefetches to accelerators. The runtime "
            "cannot serialize the buffers on the devices, and elements in them would be lost. "
            "Pass InputOptions(experimental_fetch_to_device=False) when you distribute the dataset."
        )
