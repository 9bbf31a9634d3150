"""Where a SavedModel is being written, and what graphs may go into one. (2.21)"""

from typing import Any

from tensorflow.python.checkpoint import tensor_callable
from tensorflow.python.framework import ops
from tensorflow.python.ops import resource_variable_ops
from tensorflow.python.saved_model import save_context, save_options
from tensorflow.python.trackable import base as trackable

# Name under which checkpoints keep the value of a variable.
VARIABLE_VALUE_KEY = trackable.VARIABLE_VALUE_KEY
# Fills the SavedModel's record of a variable.
write_variable_proto = resource_variable_ops.write_object_proto_for_resource_variable
# A tensor that is read only if it is saved: restoring needs no value, and there may be none yet.
TensorCallable = tensor_callable.Callable
# A variable without a value, for what a checkpoint or copy will fill.
UninitializedVariable = resource_variable_ops.UninitializedVariable


def is_saving_plain() -> bool:
    """Whether a SavedModel without distributed variables is being written right now."""
    if not save_context.in_save_context():
        return False
    policy = save_context.get_save_options().experimental_variable_policy
    return bool(policy != save_options.VariablePolicy.EXPAND_DISTRIBUTED_VARIABLES)


def expands_components(options: Any) -> bool:
    """Whether the options ask for every component of distributed variables."""
    return bool(options.experimental_variable_policy._expand_distributed_variables())


def mark_as_unsaveable() -> None:
    """Keeps the function graph under construction out of SavedModels: it uses all components."""
    if ops.inside_function() and not save_context.in_save_context():
        ops.get_default_graph().mark_as_unsaveable(
            "The function uses variables of a strategy across replicas, which a SavedModel cannot "
            "hold. Save a tf.function with an input_signature (as in f_with_input_signature) "
            "instead of a concrete function."
        )
