"""What this plugin offers. Records only: this module must not import TensorFlow."""

import tfdist
from tfdist.specs import Capabilities, CrossDeviceOpsSpec, StrategySpec

_COLLECTIVES = ("reduce", "batch_reduce", "broadcast", "gather")


@tfdist.hookimpl
def tfdist_strategies() -> list[StrategySpec]:
    """Offer `ring_mirrored`."""
    return [
        StrategySpec(
            name="ring_mirrored",
            target="tfdist_example_vendor.strategy:RingStrategy",
            summary="a copy of the model on each device, summed around a ring",
            capabilities=Capabilities(collectives=(*_COLLECTIVES, "all_reduce", "all_gather")),
        )
    ]


@tfdist.hookimpl
def tfdist_cross_device_ops() -> list[CrossDeviceOpsSpec]:
    """Offer `ring`."""
    return [
        CrossDeviceOpsSpec(
            name="ring",
            target="tfdist_example_vendor.ring:RingAllReduce",
            summary="adds around a ring of devices",
            capabilities=Capabilities(collectives=_COLLECTIVES),
        )
    ]
