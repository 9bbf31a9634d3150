"""Operations on values of several devices of one process, of the graph kind."""

from tfdist.cross_device.all_reduce import AllReduceOps
from tfdist.cross_device.base import CrossDeviceOps
from tfdist.cross_device.choose import missing_for_nccl, resolve_cross_device_ops
from tfdist.cross_device.destinations import device_of, devices_of, on_device
from tfdist.cross_device.reduction_to_one_device import ReductionToOneDevice
from tfdist.cross_device.sums import add_in_order

__all__ = [
    "AllReduceOps",
    "CrossDeviceOps",
    "ReductionToOneDevice",
    "add_in_order",
    "device_of",
    "devices_of",
    "missing_for_nccl",
    "on_device",
    "resolve_cross_device_ops",
]
