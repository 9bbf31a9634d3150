"""Values with one component a replica: ``PerReplica`` (may differ) and ``Mirrored`` (are equal)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from tfdist.errors import ContextError, ValueMismatchError
from tfdist.replica.current import current_replica_id
from tfdist.tf_internals import type_specs


class _NotInReplicaError(ContextError, ValueError):
    """Also what TensorFlow raises there."""


class DistributedValues(tf.distribute.DistributedValues):
    """Components by local replica id.

    Args:
        values: One component a local replica, in the order of the strategy's ``worker_devices``.
    """

    def __init__(self, values: Sequence[Any]) -> None:
        if not values:
            raise ValueMismatchError(
                f"Cannot build {type(self).__name__} from no values. "
                "One value a replica was expected. Pass a non-empty sequence."
            )
        self._values = tuple(values)

    @property
    def values(self) -> tuple[Any, ...]:
        """The components, one a local replica."""
        return self._values

    @property
    def _primary(self) -> Any:
        return self._values[0]

    @property
    def _devices(self) -> tuple[str, ...]:
        return tuple(v.device for v in self._values)

    def _get(self) -> Any:
        """The component of the current replica; in cross-replica context what the class allows."""
        replica_id = current_replica_id()
        return self._get_cross_replica() if replica_id is None else self._values[replica_id]

    def _get_cross_replica(self) -> Any:
        raise _NotInReplicaError(
            f"Cannot read one value of {type(self).__name__}: not inside a replica context. It "
            f"holds {len(self._values)} values, one a replica, and none of them stands for all. "
            "Use strategy.experimental_local_results(), strategy.reduce() or strategy.gather()."
        )

    def __repr__(self) -> str:
        rows = ",\n".join(f"  {i}: {v!r}" for i, v in enumerate(self._values))
        return f"{type(self).__name__}:{{\n{rows}\n}}"

    __str__ = __repr__


class PerReplica(
    DistributedValues, tf.__internal__.CompositeTensor, tf.types.experimental.distributed.PerReplica
):
    """One value a replica, free to differ in value and in shape; a composite tensor."""

    @property
    def _type_spec(self) -> PerReplicaSpec:
        return PerReplicaSpec(*(tf.type_spec_from_value(v) for v in self._values))

    @property
    def dtype(self) -> tf.DType:
        """The dtype of the components."""
        return self._primary.dtype

    @property
    def shape(self) -> tf.TensorShape:
        """The most specific shape that fits every component."""
        shape = tf.TensorShape(self._primary.shape)
        for value in self._values[1:]:
            shape = shape.most_specific_compatible_shape(value.shape)
        return shape


class PerReplicaSpec(tf.TypeSpec):
    """The type of a ``PerReplica``: the specs of its components, in order."""

    __slots__ = ("_value_specs",)

    value_type = property(lambda _: PerReplica)

    def __init__(self, *value_specs: Any) -> None:
        self._value_specs = tuple(value_specs)

    @property
    def value_specs(self) -> tuple[Any, ...]:
        """The specs of the components, one a local replica."""
        return self._value_specs

    def _serialize(self) -> tuple[Any, ...]:
        return self._value_specs

    @property
    def _component_specs(self) -> tuple[Any, ...]:
        return self._value_specs

    def _to_components(self, value: PerReplica) -> tuple[Any, ...]:
        if current_replica_id() is not None and len(value.values) > 1:
            raise ContextError(
                "Cannot flatten a PerReplica in replica context. It belongs to all replicas, and "
                "this code runs on one of them. Pass it to strategy.run() as an argument instead "
                "of capturing it."
            )
        return value.values

    def _from_components(self, tensor_list: Sequence[Any]) -> PerReplica:
        return PerReplica(tensor_list)


class Mirrored(DistributedValues, tf.types.experimental.distributed.Mirrored):
    """The same value on each replica's device, so that any copy stands for all."""

    @property
    def dtype(self) -> tf.DType:
        """The dtype of the copies."""
        return self._primary.dtype

    @property
    def shape(self) -> tf.TensorShape:
        """The shape of the copies."""
        return self._primary.shape

    def numpy(self) -> Any:
        """The value as a NumPy array (eager only)."""
        return self._primary.numpy()

    def _get_cross_replica(self) -> Any:
        return copy_on_current_device(self._values)

    def _as_graph_element(self) -> Any:
        # Sessions of TensorFlow 1 fetch it as one value.
        return self._get()


def copy_on_current_device(values: Sequence[Any]) -> Any:
    """The copy that lives on the current device, else the first one."""
    if len(values) > 1:
        device = type_specs.current_device()
        for value in values:
            if device and value.device == device:
                return value
    return values[0]


def _per_replica_to_tensor(
    value: PerReplica, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> Any:
    del as_ref
    return tf.convert_to_tensor(value._get(), dtype=dtype, name=name)


tf.register_tensor_conversion_function(PerReplica, _per_replica_to_tensor)
tf.register_tensor_conversion_function(Mirrored, _per_replica_to_tensor)
