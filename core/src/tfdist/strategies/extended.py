"""The inner half of a strategy: its parts, behind the methods that TensorFlow and Keras call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import tensorflow as tf

from tfdist import input as tfdist_input
from tfdist.cross_device import CrossDeviceOps, device_of
from tfdist.errors import OptionError, ValueMismatchError
from tfdist.replica.context import require_replica_context
from tfdist.replica.current import current_replica_id
from tfdist.replica.reduce_ops import as_reduce_op
from tfdist.replica.runner import ReplicaRunner
from tfdist.tf_internals import contexts
from tfdist.values import (
    Mirrored,
    PerReplica,
    is_distributed_variable,
    regroup,
    select_replica,
    variable_container,
)

VariableCreator = Callable[[Any, Callable[..., Any], dict[str, Any]], Any]


@attrs.frozen
class Parts:
    """What a strategy is put together from.

    Attributes:
        worker_devices: One full device name a replica.
        parameter_devices: Where variables live.
        runner: Runs the user's function on every replica.
        create_variable: ``(strategy, next_creator, kwargs) -> variable``.
        cross_device_ops: Reduces, broadcasts and gathers values of the replicas.
        updates_in_replica: Each replica updates a component of its own; else one update serves all.
    """

    worker_devices: tuple[str, ...]
    parameter_devices: tuple[str, ...]
    runner: ReplicaRunner
    create_variable: VariableCreator
    cross_device_ops: CrossDeviceOps
    updates_in_replica: bool = True


class Extended(contexts.StrategyExtendedV1):
    """The methods for library code: ``tf.distribute.StrategyExtended`` over :class:`Parts`."""

    def __init__(self, strategy: tf.distribute.Strategy, parts: Parts) -> None:
        super().__init__(strategy)
        self._parts = parts
        self._retrace_functions_for_each_device = len(parts.worker_devices) > 1

    # --- what there is

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The device of each replica, by local replica id."""
        return self._parts.worker_devices

    @property
    def worker_devices_by_replica(self) -> list[list[str]]:
        """The devices of each replica."""
        return [[device] for device in self._parts.worker_devices]

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The devices where variables live."""
        return self._parts.parameter_devices

    @property
    def cross_device_ops(self) -> CrossDeviceOps:
        """What reduces, broadcasts and gathers values of the replicas."""
        return self._parts.cross_device_ops

    @property
    def _num_replicas_in_sync(self) -> int:
        return len(self._parts.worker_devices)

    _num_local_replicas = _num_replicas_in_sync
    experimental_between_graph = property(lambda _: False)
    experimental_should_init = property(lambda _: True)
    should_checkpoint = property(lambda _: True)
    should_save_summary = property(lambda _: True)
    _global_batch_size = property(lambda _: True)

    def _in_multi_worker_mode(self) -> bool:
        return False

    def _get_local_replica_id(self, replica_id_in_sync_group: Any) -> Any:
        return replica_id_in_sync_group

    def _get_replica_id_in_sync_group(self, replica_id: Any) -> Any:
        return replica_id

    def _use_merge_call(self) -> bool:
        return not self._parts.updates_in_replica

    def non_slot_devices(self, var_list: Any) -> tuple[str, ...]:
        """Where state that belongs to no single variable lives."""
        del var_list
        return self._parts.parameter_devices

    # --- variables

    def _create_variable(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        return self._parts.create_variable(self._container_strategy(), next_creator, kwargs)

    def _validate_colocate_with_variable(self, colocate_with_variable: Any) -> None:
        if not self.variable_created_in_scope(colocate_with_variable):
            raise OptionError(
                "`colocate_vars_with` must only be passed a variable created in this "
                f"tf.distribute.Strategy.scope(), not: {colocate_with_variable!r}. Create it in "
                "the scope of the strategy, or pass a variable that was."
            )

    def variable_created_in_scope(self, v: Any) -> bool:
        """Whether a variable was created in this strategy's scope."""
        return getattr(v, "_distribute_strategy", None) is self._container_strategy()

    def value_container(self, value: Any) -> Any:
        """The variable that a component belongs to; else the value."""
        return variable_container(value)

    def read_var(self, v: Any) -> tf.Tensor:
        """The value of a variable in cross-replica context."""
        return v.read_value() if isinstance(v, tf.Variable) else tf.identity(v)

    # --- running

    def _call_for_each_replica(self, fn: Any, args: Any, kwargs: Any) -> Any:
        return self._parts.runner.run(self._container_strategy(), fn, args, kwargs)

    def update(
        self, var: Any, fn: Any, args: Any = (), kwargs: Any = None, group: bool = True
    ) -> Any:
        """Runs ``fn`` to update a variable; see ``tf.distribute.StrategyExtended.update``."""
        kwargs = kwargs or {}
        context = tf.distribute.get_replica_context()
        if context is None or contexts.is_default_replica_context(context):
            return super().update(var, fn, args, kwargs, group)
        return self._replica_ctx_update(var, fn, args, kwargs, group)

    def _update(self, var: Any, fn: Any, args: Any, kwargs: Any, group: bool) -> Any:
        if not isinstance(var, tf.Variable):
            raise ValueMismatchError(
                f"Cannot update {var!r}. A variable of this strategy was expected. Pass a "
                "tf.Variable that was created in the strategy's scope."
            )
        components = getattr(var, "_values", (var,))
        updates = []
        for i, component in enumerate(components):
            own_args, own_kwargs = select_replica(i, (tuple(args), dict(kwargs)))
            with (
                tf.device(component.device),
                contexts.UpdateContext(i),
                tf.name_scope(f"update_{i}"),
            ):
                updates.append(fn(component, *own_args, **own_kwargs))
        return self._regroup_updates(updates, group)

    def _update_non_slot(
        self, colocate_with: Any, fn: Any, args: Any, kwargs: Any, group: bool
    ) -> Any:
        devices = (colocate_with,) if isinstance(colocate_with, str) else tuple(colocate_with)
        updates = []
        for i, device in enumerate(devices):
            own_args, own_kwargs = select_replica(i, (tuple(args), dict(kwargs)))
            with tf.device(device), contexts.UpdateContext(i), tf.name_scope(f"update_{i}"):
                updates.append(fn(*own_args, **own_kwargs))
        return self._regroup_updates(updates, group)

    def _regroup_updates(self, updates: list[Any], group: bool) -> Any:
        if group:
            return regroup(updates, _grouped)
        return tf.nest.map_structure(self._local_results, regroup(updates, Mirrored))

    def _replica_ctx_update(
        self, var: Any, fn: Any, args: Any = (), kwargs: Any = None, group: bool = True
    ) -> Any:
        context = require_replica_context("update a variable")
        kwargs = kwargs or {}
        if not self._parts.updates_in_replica:
            return context.merge_call(
                lambda _, *a, **kw: self.update(var, fn, a, kw, group), args=args, kwargs=kwargs
            )
        replica_id = current_replica_id()
        if is_distributed_variable(var):
            var = var._get_replica(replica_id)
        with tf.device(var.device), tf.name_scope(f"update_{replica_id}"):
            return fn(var, *args, **kwargs)

    # --- reducing

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any = None) -> Any:
        """Reduces over the replicas; see ``tf.distribute.StrategyExtended.reduce_to``."""
        return super().reduce_to(as_reduce_op(reduce_op), value, destinations, options)

    def batch_reduce_to(
        self, reduce_op: Any, value_destination_pairs: Any, options: Any = None
    ) -> Any:
        """Reduces several values; see ``tf.distribute.StrategyExtended.batch_reduce_to``."""
        return super().batch_reduce_to(as_reduce_op(reduce_op), value_destination_pairs, options)

    def _reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any) -> Any:
        def reduce(leaf: Any) -> Any:
            if isinstance(leaf, Mirrored) or not isinstance(leaf, tf.distribute.DistributedValues):
                return self._reduce_plain(reduce_op, leaf, destinations)
            return self.cross_device_ops.reduce(reduce_op, leaf, destinations, options)

        return tf.nest.map_structure(reduce, value)

    def _reduce_plain(self, reduce_op: Any, value: Any, destinations: Any) -> Any:
        if isinstance(value, Mirrored):
            value = value._get_cross_replica()
        if isinstance(value, (int, float)) and value == 0:
            return value
        if reduce_op == tf.distribute.ReduceOp.SUM and self._num_replicas_in_sync > 1:
            raise ValueMismatchError(
                f"A non-DistributedValues value {value} cannot be reduced with the given reduce op "
                f"{reduce_op}: one value for {self._num_replicas_in_sync} replicas may stand for "
                "itself or once for each. Return a value from strategy.run() on each replica, or "
                "use MEAN."
            )
        if not (tf.is_tensor(value) or isinstance(value, tf.IndexedSlices)):
            value = tf.convert_to_tensor(value)
        if isinstance(value, tf.IndexedSlices):
            return value
        return self.cross_device_ops.broadcast(value, destinations)

    def _batch_reduce_to(self, reduce_op: Any, value_destination_pairs: Any, options: Any) -> Any:
        return self.cross_device_ops.batch_reduce(reduce_op, value_destination_pairs, options)

    def _replica_ctx_all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        context = require_replica_context("all-reduce")
        flat = tf.nest.flatten(value)
        if self._num_replicas_in_sync == 1:
            return tf.nest.pack_sequence_as(value, flat)
        contributions = [_Contribution(v) for v in flat]
        reduced = context.merge_call(
            _all_reduce_flat, args=(as_reduce_op(reduce_op), contributions, options)
        )
        return tf.nest.pack_sequence_as(value, reduced)

    def _broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        if isinstance(tensor, (float, int)):
            return tensor
        return self.cross_device_ops.broadcast(tensor, destinations or self.worker_devices)

    def _gather_to_implementation(
        self, value: Any, destinations: Any, axis: int, options: Any
    ) -> Any:
        if not isinstance(value, tf.distribute.DistributedValues):
            return value
        return self.cross_device_ops.gather(value, destinations, axis, options)

    # --- input

    def _experimental_distribute_dataset(self, dataset: Any, options: Any) -> Any:
        return tfdist_input.distribute_dataset(dataset, self._container_strategy(), options)

    def _distribute_datasets_from_function(self, dataset_fn: Any, options: Any) -> Any:
        return tfdist_input.distribute_from_function(
            dataset_fn, self._container_strategy(), options
        )

    def _experimental_distribute_values_from_function(self, value_fn: Any) -> Any:
        return tfdist_input.values_from_function(value_fn, self._container_strategy())


class _Contribution:
    """What one replica adds. Wrapped, for one tensor that all of them pass counts once for each.

    Not an attrs class, which ``tf.nest`` would open.
    """

    def __init__(self, value: Any) -> None:
        self.value = value


def _all_reduce_flat(
    strategy: Any, reduce_op: Any, contributions: Sequence[PerReplica], options: Any
) -> Any:
    values = [PerReplica([c.value for c in own.values]) for own in contributions]
    return strategy.extended.batch_reduce_to(reduce_op, [(v, v) for v in values], options)


def _grouped(updates: Sequence[Any]) -> Any:
    """Each value once all updates have happened."""
    if len(updates) == 1:
        return Mirrored(updates)
    grouped = tf.group(*[u for u in updates if u is not None])
    if not all(tf.is_tensor(u) or isinstance(u, tf.Variable) for u in updates):
        return grouped
    waited = []
    for update in updates:
        device = device_of(update)
        with tf.device(device), tf.control_dependencies([grouped] if grouped is not None else []):
            waited.append(tf.identity(update))
    return Mirrored(waited)
