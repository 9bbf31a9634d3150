"""Strategies, and the parts they are put together from.

The package's name is also that of the function ``tfdist.strategies()``: write
``from tfdist.strategies import Parts``, not ``import tfdist.strategies``.
"""

from tfdist.strategies.base import Strategy
from tfdist.strategies.devices import check_device, check_devices, default_devices
from tfdist.strategies.extended import Extended, Parts

__all__ = [
    "Extended",
    "Parts",
    "Strategy",
    "check_device",
    "check_devices",
    "default_devices",
]
