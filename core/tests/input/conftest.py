"""A stand-in for a strategy, which offers what input asks of one."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import tensorflow as tf

_DEVICE = "/job:localhost/replica:0/task:0/device:CPU:{}"
_DEVICE_COUNT = 4


def _make_virtual_devices() -> None:
    cpu = tf.config.list_physical_devices("CPU")[0]
    if tf.config.get_logical_device_configuration(cpu) is None:
        one = tf.config.LogicalDeviceConfiguration()
        tf.config.set_logical_device_configuration(cpu, [one] * _DEVICE_COUNT)


_make_virtual_devices()


class FakeStrategy:
    """Local replicas on the first virtual CPU devices."""

    def __init__(self, replica_count: int) -> None:
        self.num_replicas_in_sync = replica_count
        self.extended = SimpleNamespace(
            worker_devices=tuple(_DEVICE.format(i) for i in range(replica_count))
        )


@pytest.fixture
def strategy() -> Callable[[int], Any]:
    """Makes a stand-in with so many replicas."""
    return FakeStrategy
