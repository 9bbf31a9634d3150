"""What TensorFlow tests variables for, by type or by attribute. (2.21)"""

from __future__ import annotations

import weakref
from typing import Any

from tensorflow.python.eager import context, record
from tensorflow.python.framework import ops
from tensorflow.python.types import core, trace

# tf.is_tensor() and convert_to_tensor() take what derives from it.
CoreTensor = core.Tensor
# Initial values of components must not end up on a user's tape.
stop_recording = record.stop_recording
record_operation = record.record_operation
inside_function = ops.inside_function


def in_plain_graph() -> bool:
    """Whether a graph of TensorFlow 1 is being built, which runs nothing by itself."""
    return not context.executing_eagerly() and not ops.inside_function()


def silent_copies() -> Any:
    """Lets eager ops take inputs of other devices without a word."""
    return context.device_policy(context.DEVICE_PLACEMENT_SILENT)


class VariableTraceType(trace.TraceType):
    """tf.function traces once for each distributed variable that it is given.

    The function reads and writes that very variable, so equal shape and dtype are not enough.
    """

    def __init__(self, variable: Any) -> None:
        self._variable = weakref.ref(variable)
        self._id = id(variable)

    def is_subtype_of(self, other: Any) -> bool:
        """Only of itself."""
        return self == other

    def most_specific_common_supertype(self, others: Any) -> Any:
        """Itself, if all are equal."""
        return self if all(self == other for other in others) else None

    def placeholder_value(self, placeholder_context: Any = None) -> Any:
        """The variable stands in its own trace."""
        del placeholder_context
        return self._variable()

    def to_tensors(self, value: Any) -> list[Any]:
        """None: components are captured."""
        del value
        return []

    def cast(self, value: Any, casting_context: Any) -> Any:
        """The variable."""
        del casting_context
        return value

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, VariableTraceType):
            return False
        mine = self._variable()
        return mine is not None and mine is other._variable()
