"""TensorFlow's notion of "which strategy, which replica": the stacks that get_strategy() reads."""

import contextlib
from collections.abc import Iterator
from typing import Any

from tensorflow.python.distribute import distribute_lib

# tf.distribute.StrategyExtended, plus the methods that Keras and TensorFlow's optimizers call on
# it: call_for_each_replica, read_var, broadcast_to, update_non_slot. Abstract. (2.21)
StrategyExtendedV1 = distribute_lib.StrategyExtendedV1
# Marks the code that updates one component of a variable, with the replica it belongs to. (2.21)
UpdateContext = distribute_lib.UpdateContext
get_update_replica_id = distribute_lib.get_update_replica_id
# Enters the strategy's scope, or raises where another strategy is in force. (2.21)
enter_or_assert_strategy = distribute_lib.enter_or_assert_strategy
# True inside tf.__internal__.distribute.variable_sync_on_read_context(). (2.21)
in_variable_sync_on_read_context = distribute_lib.in_variable_sync_on_read_context


@contextlib.contextmanager
def cross_replica_mode(strategy: Any) -> Iterator[None]:
    """Puts the current thread into the strategy's cross-replica context.

    The stack of modes belongs to a graph, so the same graph must be in force at both ends. (2.21)
    """
    distribute_lib._push_per_thread_mode(distribute_lib._CrossReplicaThreadMode(strategy))
    try:
        yield
    finally:
        distribute_lib._pop_per_thread_mode()


def is_default_replica_context(context: Any) -> bool:
    """Whether a replica context is the one in force outside all strategies. (2.21)"""
    return context is distribute_lib._get_default_replica_context()
