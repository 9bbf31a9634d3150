"""Variables that strategies make."""

from tfdist.variables.aggregating import AggregatingVariable
from tfdist.variables.create import create_central, create_mirrored, create_plain
from tfdist.variables.distributed import DistributedVariable, MirroredVariable, SyncOnReadVariable

__all__ = [
    "AggregatingVariable",
    "DistributedVariable",
    "MirroredVariable",
    "SyncOnReadVariable",
    "create_central",
    "create_mirrored",
    "create_plain",
]
