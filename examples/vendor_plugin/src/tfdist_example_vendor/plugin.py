"""What this plugin offers. Records only: this module must not import TensorFlow."""

import tfdist
from tfdist.specs import Capabilities, CrossDeviceOpsSpec


@tfdist.hookimpl
def tfdist_cross_device_ops() -> list[CrossDeviceOpsSpec]:
    """Offer `ring`."""
    return [
        CrossDeviceOpsSpec(
            name="ring",
            target="tfdist_example_vendor.ring:RingAllReduce",
            summary="adds around a ring of devices",
            capabilities=Capabilities(
                collectives=("reduce", "batch_reduce", "broadcast", "gather"),
            ),
        )
    ]
