"""What all-reduce algorithms share: packing, sparse values, means, and when to fall back."""

from __future__ import annotations

import abc
import itertools
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from tfdist.cross_device.base import CrossDeviceOps
from tfdist.cross_device.buckets import by_bytes, by_count, reduce_in_packs
from tfdist.cross_device.copies import mirrored
from tfdist.cross_device.destinations import device_of, devices_of, on_device, same_devices
from tfdist.cross_device.reduction_to_one_device import reduce_to_one
from tfdist.cross_device.sums import mean_of_sum
from tfdist.errors import OptionError
from tfdist.values import PerReplica


class AllReduceOps(CrossDeviceOps):
    """Base of cross-device ops whose algorithm leaves the sum on every device it came from.

    A vendor writes ``all_reduce_sum``, and ``can_all_reduce`` where it has limits. Everything else
    falls back to ``ReductionToOneDevice``: other destinations, ``tf.IndexedSlices``, dtypes that
    the algorithm lacks, and gathering.

    Args:
        num_packs: How many packs the dense tensors of a batch (and dtype) travel in; 0 packs
            nothing. ``CommunicationOptions.bytes_per_pack`` goes before it.

    Raises:
        OptionError: ``num_packs`` is negative or not an integer.
    """

    def __init__(self, num_packs: int = 1) -> None:
        super().__init__()
        if isinstance(num_packs, bool) or not isinstance(num_packs, int) or num_packs < 0:
            raise OptionError(
                f"Cannot make {type(self).__name__} with num_packs={num_packs!r}. An integer of 0 "
                "or more was expected. Pass 0 for no packing, 1 for one pack."
            )
        self.num_packs = num_packs

    @abc.abstractmethod
    def all_reduce_sum(
        self, tensors: Sequence[tf.Tensor], devices: Sequence[str], turn: int
    ) -> list[tf.Tensor]:
        """The sum of dense tensors on each device they come from.

        Args:
            tensors: Two or more, of one shape and numeric dtype.
            devices: The device of each.
            turn: Number of this reduction in its batch, for those who spread work over devices.

        Returns:
            One tensor a device, in order; bit-equal to each other. Must be differentiable.
        """

    def can_all_reduce(self, tensors: Sequence[tf.Tensor], devices: Sequence[str]) -> bool:
        """Whether the algorithm takes these tensors on these devices."""
        del devices
        return tensors[0].dtype not in (tf.bool, tf.string, tf.resource)

    def reduce_implementation(
        self, reduce_op: Any, per_replica_value: Any, destinations: Any, options: Any
    ) -> Any:
        """All-reduces if the destinations are where the values are, else reduces on one device."""
        del options
        return self._reduce(reduce_op, per_replica_value, devices_of(destinations), turn=0)

    def batch_reduce_implementation(
        self, reduce_op: Any, value_destination_pairs: Any, options: Any
    ) -> list[Any]:
        """All-reduces pack by pack."""
        limit = options.bytes_per_pack
        turns = itertools.count()

        def reduce_one(value: PerReplica, devices: tuple[str, ...]) -> Any:
            return self._reduce(reduce_op, value, devices, next(turns))

        planner = by_bytes(limit) if limit else by_count(self.num_packs)
        return reduce_in_packs(value_destination_pairs, planner, reduce_one)

    def _reduce(
        self, reduce_op: Any, value: PerReplica, devices: tuple[str, ...], turn: int
    ) -> Any:
        sources = tuple(device_of(each) for each in value.values)
        dense = all(isinstance(each, tf.Tensor) for each in value.values)
        in_place = dense and "" not in sources and same_devices(sources, devices)
        if not in_place or not self.can_all_reduce(value.values, sources):
            return reduce_to_one(reduce_op, value, devices)
        sums = self.all_reduce_sum(value.values, sources, turn)
        if reduce_op == tf.distribute.ReduceOp.MEAN:
            sums = [_mean(total, d, len(sums)) for total, d in zip(sums, sources, strict=True)]
        return mirrored(_in_order(sums, sources, devices))


def _mean(total: tf.Tensor, device: str, count: int) -> Any:
    with on_device(device):
        return mean_of_sum(total, count)


def _in_order(
    copies: Sequence[tf.Tensor], sources: Sequence[str], devices: Sequence[str]
) -> list[tf.Tensor]:
    left = list(zip(sources, copies, strict=True))
    ordered = []
    for device in devices:
        at = next(i for i, (source, _) in enumerate(left) if source == device)
        ordered.append(left.pop(at)[1])
    return ordered
