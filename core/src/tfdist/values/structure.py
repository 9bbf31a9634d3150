"""From one structure a replica to one structure of values, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from tfdist.errors import ValueMismatchError
from tfdist.tf_internals import variables
from tfdist.values.distributed import PerReplica


def is_distributed_variable(value: Any) -> bool:
    """Whether a value is a variable with components on several replicas (ours or TensorFlow's)."""
    return bool(getattr(value, "is_distributed_variable", False))


def is_distributed_value(value: Any) -> bool:
    """Whether a value has a component a replica, and is no variable, which picks its own."""
    return isinstance(value, tf.distribute.DistributedValues) and not is_distributed_variable(value)


def variable_container(value: Any) -> Any:
    """The distributed variable that a component belongs to; else the value itself."""
    if getattr(value, "_parent_op", None) is not None and variables.in_plain_graph():
        # In a graph that sessions run, the assignment happens only if what it returned is fetched.
        return value
    ref = getattr(value, "_distributed_container", None)
    if ref is None and isinstance(value, tf.Variable) and not is_distributed_variable(value):
        ref = getattr(value.handle, "_distributed_container", None)
    container = ref() if ref is not None else None
    return value if container is None else container


def select_replica(replica_id: int, structure: Any) -> Any:
    """What replica ``replica_id`` sees of a structure.

    Distributed values give their component; distributed variables stay whole, because they know
    the replica that reads them; everything else is the same for all replicas.
    """

    def pick(value: Any) -> Any:
        return value._values[replica_id] if is_distributed_value(value) else value

    return tf.nest.map_structure(pick, structure)


def regroup(
    structures: Sequence[Any],
    wrap: Callable[[Sequence[Any]], Any] = PerReplica,
    always_wrap: bool = False,
) -> Any:
    """Joins one structure a replica into one structure whose leaves are distributed values.

    A leaf that is the same object everywhere stays as it is, unless ``always_wrap``; the components
    of one distributed variable become that variable again.

    Args:
        structures: One nested structure a replica, all of the same structure.
        wrap: Builds a leaf from its components.
        always_wrap: Wrap also what is one object on all replicas.

    Raises:
        ValueMismatchError: The structures differ.
    """
    if len(structures) == 1 and not always_wrap:
        return tf.nest.map_structure(variable_container, structures[0])
    try:
        return tf.nest.map_structure(
            lambda *leaves: _regroup_leaf(leaves, wrap, always_wrap), *structures
        )
    except (ValueError, TypeError) as error:
        raise _mismatch(structures, error) from error


def _regroup_leaf(
    leaves: Sequence[Any], wrap: Callable[[Sequence[Any]], Any], always_wrap: bool
) -> Any:
    first = leaves[0]
    same = all(leaf is first for leaf in leaves[1:])
    if same and (is_distributed_variable(first) or not always_wrap):
        return variable_container(first)
    container = variable_container(first)
    if container is not first and all(variable_container(v) is container for v in leaves):
        return container
    return wrap(leaves)


def _mismatch(structures: Sequence[Any], error: Exception) -> Exception:
    for i, structure in enumerate(structures[1:], 1):
        try:
            tf.nest.assert_same_structure(structures[0], structure)
        except (ValueError, TypeError):
            return ValueMismatchError(
                f"Cannot join the values of {len(structures)} replicas. Replica 0 has "
                f"{structures[0]!r}, replica {i} has {structure!r}, and one structure was expected "
                "of all. Return the same nested structure on every replica."
            )
    return error
