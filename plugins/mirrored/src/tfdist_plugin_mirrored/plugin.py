"""What this plugin offers. Records only: no import of TensorFlow."""

import tfdist
from tfdist.specs import Capabilities, CrossDeviceOpsSpec, StrategySpec

_GRAPH_COLLECTIVES = ("reduce", "batch_reduce", "broadcast", "gather")
_DTYPES = ("floating", "integer", "bool", "complex", "string")


@tfdist.hookimpl
def tfdist_strategies() -> list[StrategySpec]:
    """Offer `mirrored` and `central_storage`."""
    return [
        StrategySpec(
            name="mirrored",
            target="tfdist_plugin_mirrored.strategy:MirroredStrategy",
            summary="one host, a copy of the model on each device",
            capabilities=Capabilities(
                collectives=(*_GRAPH_COLLECTIVES, "all_reduce", "all_gather"), dtypes=_DTYPES
            ),
        ),
        StrategySpec(
            name="central_storage",
            target="tfdist_plugin_mirrored.central_storage:CentralStorageStrategy",
            summary="one host, variables in one place, computation on each device",
            capabilities=Capabilities(
                collectives=(*_GRAPH_COLLECTIVES, "all_reduce", "all_gather"), dtypes=_DTYPES
            ),
        ),
    ]


@tfdist.hookimpl
def tfdist_cross_device_ops() -> list[CrossDeviceOpsSpec]:
    """Offer `hierarchical_copy` and `nccl`."""
    return [
        CrossDeviceOpsSpec(
            name="hierarchical_copy",
            target="tfdist_plugin_mirrored.hierarchical_copy:HierarchicalCopyAllReduce",
            summary="adds in a tree of device pairs, then copies back down the tree",
            capabilities=Capabilities(collectives=_GRAPH_COLLECTIVES),
        ),
        CrossDeviceOpsSpec(
            name="nccl",
            target="tfdist_plugin_mirrored.nccl:NcclAllReduce",
            summary="NVIDIA's collectives between the GPUs of one host",
            capabilities=Capabilities(
                devices=("GPU",),
                collectives=_GRAPH_COLLECTIVES,
                dtypes=("floating", "integer"),
                hardware=("GPU",),
            ),
        ),
    ]
