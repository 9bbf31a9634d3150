"""TensorFlow's notion of "which strategy, which replica": the stacks that get_strategy() reads."""

from tensorflow.python.distribute import distribute_lib

# The per-thread stack behind tf.distribute.get_strategy() and friends. (2.21)
UpdateContext = distribute_lib.UpdateContext
get_update_replica_id = distribute_lib.get_update_replica_id
enter_or_assert_strategy = distribute_lib.enter_or_assert_strategy
# True where tf.__internal__.distribute.variable_sync_on_read_context() is active. (2.21)
in_variable_sync_on_read_context = distribute_lib.in_variable_sync_on_read_context
get_cross_replica_context = distribute_lib.get_cross_replica_context
require_replica_context = distribute_lib.require_replica_context
# What tf.distribute.StrategyExtended is abstractly derived from when it also has call_for_each_replica,
# read_var, broadcast_to and update_non_slot, which Keras and TensorFlow's optimizers call. (2.21)
StrategyExtendedV1 = distribute_lib.StrategyExtendedV1
ReplicaContextBase = distribute_lib.ReplicaContextBase
