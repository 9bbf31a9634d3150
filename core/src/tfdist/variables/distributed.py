"""Variables with a component on every replica: kept equal on write, or reduced on read."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from tfdist.errors import ContextError, OptionError, ValueMismatchError
from tfdist.replica.current import current_replica_id
from tfdist.tf_internals import contexts, saving
from tfdist.values import Mirrored, copy_on_current_device, is_distributed_value
from tfdist.variables.delegate import DelegatingVariable

_NONE = tf.VariableAggregation.NONE
_SUM = tf.VariableAggregation.SUM
_MEAN = tf.VariableAggregation.MEAN
_FIRST = tf.VariableAggregation.ONLY_FIRST_REPLICA
_REDUCE_OPS = {_SUM: tf.distribute.ReduceOp.SUM, _MEAN: tf.distribute.ReduceOp.MEAN}


class DistributedVariable(DelegatingVariable, tf.distribute.DistributedValues):
    """A variable with one component a replica."""

    is_distributed_variable = True

    def _get_replica(self, replica_id: int) -> tf.Variable:
        return self._values[replica_id]

    def _component(self) -> tf.Variable:
        if saving.is_saving_plain():
            return self._primary
        replica_id = current_replica_id()
        if replica_id is not None:
            return self._values[replica_id]
        return copy_on_current_device(self._values)

    def _get(self) -> Any:
        return self._component() if current_replica_id() is not None else self._get_cross_replica()

    def _get_cross_replica(self) -> Any:
        return self._read()

    def sparse_read(self, indices: Any, name: str | None = None) -> tf.Tensor:
        """Rows of the current replica's component, without reading the rest."""
        if current_replica_id() is None:
            return super().sparse_read(indices, name)
        return self._component().sparse_read(indices, name)

    def gather_nd(self, indices: Any, name: str | None = None) -> tf.Tensor:
        """Slices of the current replica's component, without reading the rest."""
        if current_replica_id() is None:
            return super().gather_nd(indices, name)
        return self._component().gather_nd(indices, name)

    def _on_component(self, replica_id: int, method: str, value: Any, **kwargs: Any) -> Any:
        component = self._values[replica_id]
        return getattr(component, method)(value, **kwargs)

    def _on_all(self, method: str, value: Any, **kwargs: Any) -> Any:
        saving.mark_as_unsaveable()
        return self._distribute_strategy.extended.update(
            self, lambda v, x, **kw: getattr(v, method)(x, **kw), args=(value,), kwargs=kwargs
        )


class MirroredVariable(DistributedVariable, tf.types.experimental.distributed.Mirrored):
    """Kept equal: what replicas write is aggregated first, then written everywhere."""

    def _read(self) -> tf.Tensor:
        return self._component().value()

    def _write(self, method: str, value: Any, **kwargs: Any) -> Any:
        with self._in_strategy():
            update_id = contexts.get_update_replica_id()
            if tf.distribute.in_cross_replica_context():
                if update_id is not None:
                    return self._on_component(update_id, method, value, **kwargs)
                return self._on_all(method, value, **kwargs)
            return self._write_replica(method, value, **kwargs)

    def _write_replica(self, method: str, value: Any, **kwargs: Any) -> Any:
        if self._aggregation not in (_NONE, _FIRST) and method in (
            "scatter_min",
            "scatter_max",
            "scatter_update",
        ):
            raise _scatter_error(self, method)
        value = aggregate(self, value)
        replica_id = current_replica_id()
        assert replica_id is not None
        return self._on_component(replica_id, method, value, **kwargs)


class SyncOnReadVariable(DistributedVariable):
    """Each replica writes its own component; reading across replicas aggregates them."""

    def _read(self) -> tf.Tensor:
        with self._in_strategy():
            if contexts.get_update_replica_id() is not None:
                return self._component().value()
            if not tf.distribute.in_cross_replica_context():
                if contexts.in_variable_sync_on_read_context():
                    return self._read_synchronized()
                return self._component().value()
            return self._read_cross_replica()

    def _read_synchronized(self) -> tf.Tensor:
        value = self._component().read_value()
        if self._aggregation == _NONE:
            raise _aggregation_error(self)
        return aggregate(self, value)

    def _read_cross_replica(self) -> tf.Tensor:
        if self._aggregation == _FIRST:
            return self._primary.value()
        if self._aggregation == _NONE:
            raise _aggregation_error(self)
        if self._aggregation == _SUM:
            saving.mark_as_unsaveable()
        return self._distribute_strategy.reduce(_REDUCE_OPS[self._aggregation], self, axis=None)

    def _write(self, method: str, value: Any, **kwargs: Any) -> Any:
        with self._in_strategy():
            update_id = contexts.get_update_replica_id()
            cross = tf.distribute.in_cross_replica_context()
            if method.startswith("scatter_"):
                raise _scatter_error(self, method)
            if cross and update_id is None:
                return self._write_cross_replica(method, value, **kwargs)
            replica_id = current_replica_id()
            assert replica_id is not None
            return self._on_component(replica_id, method, value, **kwargs)

    def _write_cross_replica(self, method: str, value: Any, **kwargs: Any) -> Any:
        saving.mark_as_unsaveable()
        if self._aggregation == _SUM:
            if method != "assign":
                raise _delta_error(self, method)
            value = tf.convert_to_tensor(value, self.dtype)
        read_value = kwargs.pop("read_value", True)
        updates = []
        for component, share in zip(self._values, self._shares(value), strict=True):
            with tf.device(component.device):
                updates.append(getattr(component, method)(share, read_value=False, **kwargs))
        update = tf.group(*[u for u in updates if u is not None])
        if not read_value:
            return update
        with tf.control_dependencies([update] if update is not None else []):
            return self.read_value()

    def _stored_value(self) -> tf.Tensor:
        with tf.device(self._primary.device), self._in_strategy():
            if self._aggregation == _NONE:
                return self._primary.read_value()
            return tf.identity(self._read_cross_replica())

    def _shares(self, value: tf.Tensor) -> list[tf.Tensor]:
        """A sum is split over the components; of an integer the first also gets what is left."""
        if self._aggregation != _SUM:
            return super()._shares(value)
        count = len(self._values)
        if not self.dtype.is_integer:
            return [value / count] * count
        share = value // count
        return [value - share * (count - 1)] + [share] * (count - 1)


def aggregate(variable: Any, value: Any) -> Any:
    """One value for a write, from what each replica passes.

    Raises:
        ValueMismatchError: The value belongs to all replicas already.
        OptionError: A mean of integers was asked for.
    """
    if is_distributed_value(value):
        raise _distributed_error(variable)
    tensor_like = tf.is_tensor(value) or isinstance(value, (tf.Variable, tf.IndexedSlices))
    if variable.aggregation == _NONE or (variable.aggregation == _FIRST and not tensor_like):
        return value
    if variable.aggregation == _MEAN and not variable.dtype.is_floating:
        raise _mean_error(variable)
    context = tf.distribute.get_replica_context()
    if not isinstance(value, tf.IndexedSlices):
        value = tf.convert_to_tensor(value, None if tensor_like else variable.dtype)
    if variable.aggregation == _FIRST:
        return context.merge_call(_share_first, args=(value,))
    (reduced,) = variable.distribute_strategy.extended._replica_ctx_all_reduce(
        _REDUCE_OPS[variable.aggregation], [value]
    )
    return reduced


def _share_first(strategy: Any, value: Any) -> Any:
    first = strategy.experimental_local_results(value)[0]
    if isinstance(first, tf.IndexedSlices):
        return Mirrored([first] * strategy.num_replicas_in_sync)
    return strategy.extended._broadcast_to(first, None)


class _DistributedValueError(ValueMismatchError, TypeError):
    """Also a TypeError, as TensorFlow raises there."""


class _ScatterError(ContextError, NotImplementedError):
    """Also what TensorFlow raises there."""


def _distributed_error(variable: Any) -> Exception:
    return _DistributedValueError(
        f"Cannot update variable {variable.name!r} in replica context with a distributed value: "
        "Cannot use DistributedValues to update variables in replica context. A tensor of this "
        "replica was expected. Pass the value through strategy.run(fn, args=...)."
    )


def _mean_error(variable: Any) -> Exception:
    return OptionError(
        "Cannot update non-float variables with tf.VariableAggregation.MEAN aggregation in replica "
        f"context: {variable.name!r} is {variable.dtype.name}. Either change the variable dtype to "
        "float or update it in cross-replica context."
    )


def _aggregation_error(variable: Any) -> Exception:
    return OptionError(
        f"Could not convert from `tf.VariableAggregation` {variable.aggregation} to "
        f"`tf.distribute.ReduceOp` type: variable {variable.name!r} has no aggregation, so its "
        "components cannot be read as one value. Create it with aggregation=SUM, MEAN or "
        "ONLY_FIRST_REPLICA, or read it in replica context."
    )


def _delta_error(variable: Any, method: str) -> Exception:
    return OptionError(
        f"SyncOnReadVariable does not support `{method}` in cross-replica context when aggregation "
        f"is set to `tf.VariableAggregation.SUM`: variable {variable.name!r} is the sum of its "
        "components, and one value for all would count once a replica. Use `assign`, or update it "
        "in replica context."
    )


def _scatter_error(variable: Any, method: str) -> Exception:
    return _ScatterError(
        f"{method} is only supported for mirrored variable (variable created within certain "
        "`tf.distribute.Strategy` scope) with NONE or `ONLY_FIRST_REPLICA` aggregation, got: "
        f"{variable.aggregation}. Variables with `synchronization=ON_READ` doesn't support "
        f"`{method}`. Use an on-write variable without aggregation: {variable.name!r}."
    )
