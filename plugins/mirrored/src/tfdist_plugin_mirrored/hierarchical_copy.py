"""All-reduce by copies in two levels: within two groups of devices, then between their roots."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from tfdist.cross_device import AllReduceOps, add_in_order, on_device


class HierarchicalCopyAllReduce(AllReduceOps):
    """Adds within each half of the devices, then across, and copies back the same way.

    Only the two roots exchange data between the halves, which suits machines whose devices form two
    groups with fast links inside each and between neighbors across (8 GPUs as 4 + 4). Successive
    packs of a batch take turns at being root, so that all links are used. It works for any number
    and type of devices.

    Args:
        num_packs: How many packs the dense tensors of a batch travel in; 0 packs nothing.

    Raises:
        OptionError: ``num_packs`` is negative or not an integer.
    """

    def all_reduce_sum(
        self, tensors: Sequence[tf.Tensor], devices: Sequence[str], turn: int
    ) -> list[tf.Tensor]:
        """The sum on each device, added in one fixed order and copied, hence bit-equal.

        *Cost*: two copies of the tensor across the halves; within a half, one from and one to each
        device that isn't its root.
        """
        halves = two_halves(len(tensors))
        roots = [half[turn % len(half)] for half in halves]
        sums = [_add(tensors, half, devices[r]) for half, r in zip(halves, roots, strict=True)]
        with on_device(devices[roots[0]]):
            total = add_in_order(sums)
        at_roots = [_copy(total, devices[root]) for root in roots]
        return [
            _copy(at_root, devices[member])
            for half, at_root in zip(halves, at_roots, strict=True)
            for member in half
        ]


def two_halves(count: int) -> list[range]:
    """The numbers of the devices of each half; the first has one more where the count is odd."""
    middle = (count + 1) // 2
    return [half for half in (range(middle), range(middle, count)) if half]


def _add(tensors: Sequence[tf.Tensor], members: Sequence[int], device: str) -> tf.Tensor:
    with on_device(device):
        return add_in_order([tensors[i] for i in members])


def _copy(tensor: tf.Tensor, device: str) -> tf.Tensor:
    with on_device(device):
        return tf.identity(tensor)
