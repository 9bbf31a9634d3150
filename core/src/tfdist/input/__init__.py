"""Input for several replicas: datasets that are split, dealt or read side by side."""

from tfdist.input.dataset import DistributedDataset, DistributedDatasetSpec
from tfdist.input.distribute import (
    distribute_dataset,
    distribute_from_function,
    values_from_function,
)
from tfdist.input.iterator import DistributedIterator, DistributedIteratorSpec
from tfdist.input.plan import ShardingPlan

__all__ = [
    "DistributedDataset",
    "DistributedDatasetSpec",
    "DistributedIterator",
    "DistributedIteratorSpec",
    "ShardingPlan",
    "distribute_dataset",
    "distribute_from_function",
    "values_from_function",
]
