"""Values that live on several replicas."""

from tfdist.values.distributed import (
    DistributedValues,
    Mirrored,
    PerReplica,
    PerReplicaSpec,
    copy_on_current_device,
)
from tfdist.values.structure import (
    is_distributed_value,
    is_distributed_variable,
    regroup,
    select_replica,
    variable_container,
)

__all__ = [
    "DistributedValues",
    "Mirrored",
    "PerReplica",
    "PerReplicaSpec",
    "copy_on_current_device",
    "is_distributed_value",
    "is_distributed_variable",
    "regroup",
    "select_replica",
    "variable_container",
]
