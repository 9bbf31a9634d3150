"""Which replica the calling code runs for."""

from __future__ import annotations

import tensorflow as tf

from tfdist.tf_internals import contexts


def current_replica_id() -> int | None:
    """The local replica id in replica or update context; None in cross-replica context.

    Outside every strategy's scope, TensorFlow's default replica context is in force. Values made by
    a strategy are then seen as from its cross-replica context: None.
    """
    context = tf.distribute.get_replica_context()
    if context is not None and not tf.distribute.has_strategy():
        return None
    if context is None:
        return contexts.get_update_replica_id()
    return local_replica_id(context)


def local_replica_id(context: tf.distribute.ReplicaContext) -> int:
    """The local id of a replica context as a Python number."""
    replica_id = context._replica_id
    if not isinstance(replica_id, int):
        replica_id = int(tf.get_static_value(replica_id))
    return replica_id
