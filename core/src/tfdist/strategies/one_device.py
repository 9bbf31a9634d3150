"""One device, through the same code as many."""

from __future__ import annotations

import functools

from tfdist.cross_device import ReductionToOneDevice
from tfdist.replica.runner import InlineRunner
from tfdist.strategies.base import Strategy
from tfdist.strategies.devices import check_device, default_devices
from tfdist.strategies.extended import Parts
from tfdist.variables import create_plain


class OneDeviceStrategy(Strategy):
    """Runs and keeps everything on one device.

    Args:
        device: Its name, such as ``"GPU:0"``; by default the first GPU, else the CPU.

    Raises:
        DeviceError: There is no such device.
    """

    def __init__(self, device: str | None = None) -> None:
        name = check_device(device or default_devices()[0])
        super().__init__(
            Parts(
                worker_devices=(name,),
                parameter_devices=(name,),
                runner=InlineRunner(),
                create_variable=functools.partial(create_plain, name),
                cross_device_ops=ReductionToOneDevice(),
            )
        )
