"""One host: a copy of each variable on each device."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from tfdist.cross_device import CrossDeviceOps, resolve_cross_device_ops
from tfdist.replica.per_replica import PerReplicaRunner
from tfdist.replica.runner import InlineRunner
from tfdist.strategies.base import Strategy
from tfdist.strategies.devices import check_devices, default_devices
from tfdist.strategies.extended import Parts
from tfdist.variables import create_mirrored


class MirroredStrategy(Strategy):
    """Synchronous training on the devices of one host.

    Args:
        devices: Their names, all of one type; by default all GPUs, else the CPU.
        cross_device_ops: A name such as ``"hierarchical_copy"``, or an object; by default ``auto``.

    Raises:
        DeviceError: A device does not exist or repeats, or types are mixed.
        UnavailableError: The cross-device op cannot work on these devices.
    """

    def __init__(
        self,
        devices: Sequence[str] | None = None,
        cross_device_ops: str | CrossDeviceOps | None = None,
    ) -> None:
        names = check_devices(default_devices() if devices is None else devices)
        super().__init__(
            Parts(
                worker_devices=names,
                parameter_devices=names,
                runner=PerReplicaRunner() if len(names) > 1 else InlineRunner(),
                create_variable=functools.partial(create_mirrored, names),
                cross_device_ops=resolve_cross_device_ops(cross_device_ops, names),
            )
        )
