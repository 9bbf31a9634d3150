"""A batch that did not come from a distributed dataset, split over the replicas."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from keras.src import tree

from tfdist.values import PerReplica


def split(batch: Any, strategy: tf.distribute.Strategy) -> Any:
    """Gives each replica its rows of a batch; leaves alone what is distributed already.

    Args:
        batch: A structure of arrays, tensors (dense, ragged, sparse) and None, with the examples
            along the first dimension; a scalar goes to every replica.
        strategy: The strategy whose replicas get the rows: the first ones get ``ceil(rows / N)``
            each, the last ones what is left, which may be nothing.
    """
    count = strategy.num_replicas_in_sync
    flat = tree.flatten(batch)
    if count == 1 or any(isinstance(v, tf.distribute.DistributedValues) for v in flat):
        return batch
    return tree.map_structure(lambda leaf: _split(leaf, count), batch)


def _split(leaf: Any, count: int) -> Any:
    if leaf is None:
        return None
    if not isinstance(leaf, (tf.RaggedTensor, tf.SparseTensor)):
        leaf = tf.convert_to_tensor(leaf)
    if leaf.shape.rank == 0:
        return leaf
    rows = int(leaf.shape[0]) if leaf.shape[0] is not None else int(leaf.bounding_shape(axis=0))
    size = -(-rows // count)
    bounds = [(min(i * size, rows), min((i + 1) * size, rows)) for i in range(count)]
    return PerReplica([_rows(leaf, start, stop) for start, stop in bounds])


def _rows(leaf: Any, start: int, stop: int) -> Any:
    if isinstance(leaf, tf.SparseTensor):
        rest = leaf.shape[1:]
        zeros = [0] * len(rest)
        return tf.sparse.slice(leaf, [start, *zeros], [stop - start, *rest])
    return leaf[start:stop]
