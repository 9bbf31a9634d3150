"""A strategy put together from the core's parts: copies on each device, summed around a ring."""

import functools
from collections.abc import Sequence

from tfdist.replica.per_replica import PerReplicaRunner
from tfdist.strategies import Parts, Strategy, check_devices, default_devices
from tfdist.variables import create_mirrored

from .ring import RingAllReduce


class RingStrategy(Strategy):
    """Synchronous training on a ring of devices of one host.

    Args:
        devices: Their names, in the order of the ring.

    Raises:
        DeviceError: A device does not exist or repeats, or types are mixed.
    """

    def __init__(self, devices: Sequence[str] | None = None) -> None:
        names = check_devices(default_devices() if devices is None else devices)
        super().__init__(
            Parts(
                worker_devices=names,
                parameter_devices=names,
                runner=PerReplicaRunner(),
                create_variable=functools.partial(create_mirrored, names),
                cross_device_ops=RingAllReduce(),
            )
        )
