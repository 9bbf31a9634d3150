"""Which devices an input pipeline feeds."""

from __future__ import annotations

import functools
from typing import Any

import attrs
import tensorflow as tf


@attrs.frozen
class InputWorkers:
    """The host that reads, and the devices of the replicas that it feeds.

    Args:
        devices: One full device name a local replica.
        host: The CPU device on which the pipeline runs.
        num_input_pipelines: How many pipelines feed the whole job.
        input_pipeline_id: Which of them this is.
        num_replicas_in_sync: Replicas of the whole job.
    """

    devices: tuple[str, ...]
    host: str
    num_input_pipelines: int = 1
    input_pipeline_id: int = 0
    num_replicas_in_sync: int = 1

    @property
    def replica_count(self) -> int:
        """How many local replicas this pipeline feeds."""
        return len(self.devices)

    @property
    def has_accelerators(self) -> bool:
        """Whether a local replica runs on something else than a CPU."""
        return any(device_type(d) != "CPU" for d in self.devices)


def input_workers(strategy: Any) -> InputWorkers:
    """The one pipeline of a strategy whose replicas all live in this process."""
    devices = tuple(strategy.extended.worker_devices)
    return InputWorkers(
        devices=devices,
        host=host_of(devices[0]),
        num_replicas_in_sync=strategy.num_replicas_in_sync,
    )


def host_of(device: str) -> str:
    """The first CPU of the task that a device belongs to."""
    spec = tf.DeviceSpec.from_string(device)
    return str(spec.replace(device_type="CPU", device_index=0).to_string())


@functools.cache
def device_type(device: str) -> str:
    """The type in a device name, such as ``CPU``."""
    return str(tf.DeviceSpec.from_string(device).device_type)
