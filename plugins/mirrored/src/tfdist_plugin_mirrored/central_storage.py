"""One host: variables in one place, computation on each device."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from tfdist.cross_device import CrossDeviceOps, resolve_cross_device_ops
from tfdist.replica.per_replica import PerReplicaRunner
from tfdist.replica.runner import InlineRunner
from tfdist.strategies.base import Strategy
from tfdist.strategies.devices import check_device, check_devices, default_devices
from tfdist.strategies.extended import Parts
from tfdist.variables import create_central, create_plain


class CentralStorageStrategy(Strategy):
    """Synchronous training on the devices of one host, with variables in one place.

    Args:
        compute_devices: The devices that compute; by default all GPUs, else the CPU.
        parameter_device: Where they live; by default the host's CPU, or the one compute device.
        cross_device_ops: As for ``mirrored``.

    Raises:
        DeviceError: A device does not exist or repeats, or types are mixed.
        UnavailableError: The cross-device op cannot work on these devices.
    """

    def __init__(
        self,
        compute_devices: Sequence[str] | None = None,
        parameter_device: str | None = None,
        cross_device_ops: str | CrossDeviceOps | None = None,
    ) -> None:
        given = default_devices() if compute_devices is None else compute_devices
        names = check_devices(given, "compute_devices")
        one = len(names) == 1
        home = parameter_device or (names[0] if one else "CPU:0")
        place = check_device(home, "parameter_device")
        super().__init__(
            Parts(
                worker_devices=names,
                parameter_devices=(place,),
                runner=InlineRunner() if one else PerReplicaRunner(),
                create_variable=(
                    functools.partial(create_plain, place)
                    if one
                    else functools.partial(create_central, place, names)
                ),
                cross_device_ops=resolve_cross_device_ops(cross_device_ops, names),
                updates_in_replica=one,
            )
        )
