"""An all-reduce around a ring of devices."""

from collections.abc import Sequence

import tensorflow as tf

from tfdist.cross_device import AllReduceOps


class RingAllReduce(AllReduceOps):
    """Adds along the ring, then passes the sum along it.

    Args:
        num_packs: How many packs the dense tensors of a batch travel in; 0 packs nothing.
    """

    def all_reduce_sum(
        self, tensors: Sequence[tf.Tensor], devices: Sequence[str], turn: int
    ) -> list[tf.Tensor]:
        """The sum on each device; *Cost*: two copies of the tensor between neighbors."""
        # Each batch starts elsewhere, so that no device does more than the others.
        start = turn % len(devices)
        order = [*range(start, len(devices)), *range(start)]
        total = tensors[order[0]]
        for i in order[1:]:
            with tf.device(devices[i]):
                total = total + tensors[i]
        copies = {order[-1]: total}
        for i in order[:-1]:
            with tf.device(devices[i]):
                total = copies[i] = tf.identity(total)
        return [copies[i] for i in range(len(devices))]
