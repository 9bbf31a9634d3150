"""What all variables of a strategy share: they look like one ``tf.Variable`` and act by context."""

from __future__ import annotations

import contextlib
import copy
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tfdist.errors import ContextError
from tfdist.tf_internals import contexts, saving, variables
from tfdist.variables.saving import SavedLikeAVariable

# Attributes that must not be looked for in the components.
_OWN = ("_self_", "_keras", "__")
_OWN_NAMES = ("_values", "_use_resource_variables", "_attribute_sentinel", "_distributed_container")


class DelegatingVariable(SavedLikeAVariable, tf.Variable, variables.CoreTensor):
    """A variable made of component variables; which one acts depends on the context.

    Args:
        strategy: The strategy that owns it.
        values: The components.
        aggregation: How values from several replicas become one.
    """

    def __init__(
        self,
        strategy: tf.distribute.Strategy,
        values: Sequence[tf.Variable],
        aggregation: tf.VariableAggregation,
    ) -> None:
        self._distribute_strategy = strategy
        self._aggregation = aggregation
        self._values = tuple(values)
        # Loading a SavedModel into a graph of TensorFlow 1 puts the op that restores here.
        self._initializer_op: Any = None
        self._common_name = self._primary.name.split(":")[0]
        for value in values:
            # The handle, because assignments return other objects with the same handle.
            value.handle._distributed_container = weakref.ref(self)

    def _read(self) -> tf.Tensor:
        """The value as the calling context sees it."""
        raise ContextError(f"{type(self).__name__} cannot be read.")

    def _write(self, method: str, value: Any, **kwargs: Any) -> Any:
        """Calls a method of the components as the calling context demands."""
        raise ContextError(f"{type(self).__name__} cannot {method} {value!r} with {kwargs}.")

    def _component(self) -> tf.Variable:
        """The component of the current replica or device, else the first."""
        return self._primary

    @property
    def _primary(self) -> tf.Variable:
        return self._values[0]

    @property
    def values(self) -> tuple[tf.Variable, ...]:
        """The component variables."""
        return self._values

    @property
    def _devices(self) -> tuple[str, ...]:
        return tuple(v.device for v in self._values)

    def __getattr__(self, name: str) -> Any:
        if name.startswith(_OWN) or name in _OWN_NAMES:
            raise AttributeError(name)
        return getattr(self._component(), name)

    def _in_strategy(self) -> contextlib.AbstractContextManager[Any]:
        return contexts.enter_or_assert_strategy(self._distribute_strategy)

    # --- what it is

    @property
    def distribute_strategy(self) -> tf.distribute.Strategy:
        """The strategy that owns the variable."""
        return self._distribute_strategy

    @property
    def aggregation(self) -> tf.VariableAggregation:
        """How values from several replicas become one."""
        return self._aggregation

    name = property(lambda self: self._primary.name)
    dtype = property(lambda self: self._primary.dtype)
    shape = property(lambda self: self._primary.shape)
    trainable = property(lambda self: self._primary.trainable)
    synchronization = property(lambda self: self._primary.synchronization)
    constraint = property(lambda self: self._primary.constraint)
    graph = property(lambda self: self._primary.graph)
    op = property(lambda self: self._component().op)
    device = property(lambda self: self._component().device)
    initial_value = property(lambda self: self._primary.initial_value)
    _shared_name = property(lambda self: self._common_name)
    _unique_id = property(lambda self: self._primary._unique_id)
    _graph_key = property(lambda self: self._primary._graph_key)
    _in_graph_mode = property(lambda self: self._primary._in_graph_mode)
    _save_slice_info = property(lambda self: self._primary._save_slice_info)

    def get_shape(self) -> tf.TensorShape:
        """The shape."""
        return self._primary.shape

    @property
    def handle(self) -> tf.Tensor:
        """The resource handle of the current replica's component."""
        return self._component().handle

    @property
    def initializer(self) -> Any:
        """Initializes all components; None in eager mode, where they have their values."""
        if self._initializer_op is not None and not saving.is_saving_plain():
            return self._initializer_op
        ops = [v.initializer for v in self._values]
        if saving.is_saving_plain() or None in ops:
            return ops[0]
        return tf.group(*ops)

    def is_initialized(self, name: str | None = None) -> Any:
        """Whether all components are: a scalar bool tensor."""
        result = self._primary.is_initialized()
        if saving.is_saving_plain():
            return result
        for value in self._values[1:]:
            result = tf.logical_and(result, value.is_initialized(), name=name)
        return result

    def _should_act_as_resource_variable(self) -> None:
        """Its presence is what resource_variable_ops.is_resource_variable() looks for."""

    def __repr__(self) -> str:
        rows = ",\n".join(f"  {i}: {v!r}" for i, v in enumerate(self._values))
        return f"{type(self).__name__}:{{\n{rows}\n}}"

    __str__ = __repr__

    def __deepcopy__(self, memo: dict[int, Any]) -> DelegatingVariable:
        with self._in_strategy():
            copied = []
            for value in self._values:
                with tf.device(value.device):
                    copied.append(copy.deepcopy(value, memo))
        result = type(self)(self._distribute_strategy, copied, self._aggregation)
        memo[id(self)] = result
        return result

    def __reduce__(self) -> Any:
        raise ContextError(
            f"Cannot pickle variable {self.name!r}. It belongs to a strategy on the devices of "
            "this process. Save it with tf.train.Checkpoint or pickle its .numpy() value."
        )

    # --- reading

    def value(self) -> tf.Tensor:
        """The value as the calling context sees it."""
        return self._primary.value() if saving.is_saving_plain() else self._read()

    def read_value(self) -> tf.Tensor:
        """The value, read now, in its own tensor."""
        if saving.is_saving_plain():
            return self._primary.read_value()
        return tf.identity(self._read())

    def numpy(self) -> Any:
        """The value as a NumPy array (eager only)."""
        if not tf.executing_eagerly():
            raise ContextError(
                f"Cannot turn variable {self.name!r} into a NumPy array while a graph is built. "
                "Eager execution was expected. Use the variable as a tensor instead."
            )
        return self.read_value().numpy()

    def __array__(self, dtype: Any = None, **_: Any) -> Any:
        # NumPy 2 passes `copy`; what is read from devices is always one.
        return np.asarray(self.numpy(), dtype)

    def __float__(self) -> float:
        return float(self.numpy())

    def __int__(self) -> int:
        return int(self.numpy())

    def __index__(self) -> int:
        return self.numpy().__index__()

    def __bool__(self) -> bool:
        return bool(self.value())

    def __len__(self) -> int:
        return len(self.value())

    def eval(self, session: Any = None) -> Any:
        """The value in a TF1 session."""
        return self._component().eval(session)

    def sparse_read(self, indices: Any, name: str | None = None) -> tf.Tensor:
        """Rows of the value, read without reading the rest where there is a component to read."""
        return tf.raw_ops.GatherV2(params=self.value(), indices=indices, axis=0, name=name)

    def gather_nd(self, indices: Any, name: str | None = None) -> tf.Tensor:
        """Slices of the value by multi-dimensional indices."""
        return tf.raw_ops.GatherNd(params=self.value(), indices=indices, name=name)

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> tf.Tensor:
        return self._dense_var_to_tensor(dtype, name)

    def _dense_var_to_tensor(
        self, dtype: Any = None, name: str | None = None, as_ref: bool = False
    ) -> tf.Tensor:
        del as_ref
        return tf.convert_to_tensor(self.value(), dtype=dtype, name=name)

    def _as_graph_element(self) -> Any:
        return self.value()

    def __tf_tracing_type__(self, _: Any) -> Any:
        return variables.VariableTraceType(self)

    # --- writing

    def _change(self, method: str, value: Any, **kwargs: Any) -> Any:
        if saving.is_saving_plain():
            return getattr(self._primary, method)(value, **kwargs)
        return self._write(method, value, **kwargs)

    def assign(self, value, use_locking=False, name=None, read_value=True):  # type: ignore[no-untyped-def]
        """Sets the value; see ``tf.Variable.assign``."""
        return self._change(
            "assign", value, use_locking=use_locking, name=name, read_value=read_value
        )

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):  # type: ignore[no-untyped-def]
        """Adds to the value; see ``tf.Variable.assign_add``."""
        return self._change(
            "assign_add", delta, use_locking=use_locking, name=name, read_value=read_value
        )

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):  # type: ignore[no-untyped-def]
        """Subtracts from the value; see ``tf.Variable.assign_sub``."""
        return self._change(
            "assign_sub", delta, use_locking=use_locking, name=name, read_value=read_value
        )


def _scatter(method: str) -> Callable[..., Any]:
    def scatter(self, sparse_delta, use_locking=False, name=None):  # type: ignore[no-untyped-def]
        return self._change(method, sparse_delta, use_locking=use_locking, name=name)

    scatter.__name__ = method
    scatter.__doc__ = f"Changes rows of the value; see ``tf.Variable.{method}``."
    return scatter


for _method in ("add", "sub", "mul", "div", "min", "max", "update"):
    setattr(DelegatingVariable, f"scatter_{_method}", _scatter(f"scatter_{_method}"))


def _to_tensor(
    variable: DelegatingVariable, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> tf.Tensor:
    return variable._dense_var_to_tensor(dtype, name, as_ref)


tf.register_tensor_conversion_function(DelegatingVariable, _to_tensor)
