"""One step of ``fit``, ``evaluate`` or ``predict`` as one replica sees it.

Within a step, a loss is *local*: the mean over the examples of this replica. ``share`` is the part
of the global batch that these examples are, so the sum over the replicas of ``share * local`` is
the mean over the global batch, uneven and empty shares included. Code written for one device then
needs no change: it computes means, and they are weighed once (see ``weighing``).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import tensorflow as tf
from keras.src import tree

from tfdist.integrations.keras import active

SUM = tf.distribute.ReduceOp.SUM


class Step:
    """What a replica knows about the step that it runs.

    Args:
        context: The replica context.
        data: This replica's part of the global batch, as it comes from the dataset.
        weighs_gradients: Whether shares are applied to gradients, not to the loss: where the user
            wrote the step, and with it the way from the loss to the gradients.

    Attributes:
        batch_size: Number of local examples, a float32 scalar.
        share: ``batch_size`` over the number of examples of all replicas, a float32 scalar.
        loss_depth: How many ``compute_loss`` are being executed, each inside the one before.
        reading: Whether metric variables currently show their sums over the replicas.
        deferred: Updates of moving averages, by variable, that wait for the end of the step.
        global_values: Values that are known to be the same on all replicas.
    """

    def __init__(
        self, context: tf.distribute.ReplicaContext, data: Any, weighs_gradients: bool = False
    ) -> None:
        self.context = context
        self.weighs_gradients = weighs_gradients
        self.batch_size = batch_size(data)
        sizes = _sizes_of_all(context, self.batch_size)
        self.share = tf.math.divide_no_nan(self.batch_size, tf.reduce_sum(sizes))
        self._first_example = tf.reduce_sum(sizes[: context.replica_id_in_sync_group])
        self.loss_depth = 0
        self.reading = False
        self.deferred: dict[int, tuple[Any, tf.Tensor]] = {}
        self.global_values: list[Any] = []
        self._graph = active.current_graph()

    def can_meet(self) -> bool:
        """Whether the calling code is where replicas can meet: not inside control flow."""
        return active.current_graph() is self._graph

    def first_row(self, rows: Any) -> tf.Tensor | None:
        """Where the rows of this replica begin among those of all, if there are some an example.

        Args:
            rows: Number of rows on this replica, a number or a scalar tensor.

        Returns:
            An int64 scalar; None if the number of rows is known not to follow the batch, or the
            values of the step are out of reach.
        """
        if self._graph is not None and tf.executing_eagerly():
            return None
        if not tf.is_tensor(rows) and rows != tf.get_static_value(self.batch_size):
            return None
        an_example = tf.cast(rows, tf.float64) / tf.cast(tf.maximum(self.batch_size, 1), tf.float64)
        return tf.cast(tf.round(tf.cast(self._first_example, tf.float64) * an_example), tf.int64)

    def mark_global(self, structure: Any) -> None:
        """Notes that values are the same on all replicas already."""
        self.global_values.extend(tree.flatten(structure))


class _Current(threading.local):
    step: Step | None = None


_current = _Current()


def current() -> Step | None:
    """The step that this replica executes; None outside of one, and in shape inference."""
    step = _current.step
    return step if step is not None and active.replica_context() is not None else None


@contextmanager
def entered(step: Step) -> Iterator[Step]:
    """Makes a step the current one of this thread."""
    previous, _current.step = _current.step, step
    try:
        yield step
    finally:
        _current.step = previous


def batch_size(data: Any) -> tf.Tensor:
    """Leading dimension of the first leaf that has one, as a float32 scalar; else 1."""
    for leaf in tree.flatten(data):
        if isinstance(leaf, tf.RaggedTensor):
            return tf.cast(leaf.nrows(), tf.float32)
        if isinstance(leaf, tf.SparseTensor):
            return tf.cast(leaf.dense_shape[0], tf.float32)
        if leaf is not None and tf.convert_to_tensor(leaf).shape.rank:
            return tf.cast(tf.shape(leaf)[0], tf.float32)
    return tf.constant(1.0)


def _sizes_of_all(context: tf.distribute.ReplicaContext, size: tf.Tensor) -> tf.Tensor:
    """The batch sizes of all replicas, in their order."""
    own = tf.one_hot(context.replica_id_in_sync_group, context.num_replicas_in_sync) * size
    return context.all_reduce(SUM, own)
