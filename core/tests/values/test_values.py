"""PerReplica, Mirrored and what joins and splits structures of them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import tensorflow as tf

import tfdist
from tfdist.errors import ContextError, ValueMismatchError
from tfdist.values import Mirrored, PerReplica, regroup, select_replica


class Pair(NamedTuple):
    left: Any
    right: Any


@pytest.fixture
def strategy(cpu_devices: Callable[[int], list[str]]) -> Any:
    return tfdist.strategy("mirrored", devices=cpu_devices(2))


def numbers(values: Any) -> list[Any]:
    return [np.asarray(x).tolist() for x in values.values]


def test_structures_are_joined_leaf_by_leaf_and_split_again() -> None:
    first = {"a": [1, None], "b": Pair(tf.constant(1.0), "same")}
    second = {"a": [2, None], "b": Pair(tf.constant(2.0), "same")}
    joined = regroup([first, second])
    assert joined["a"][0].values == (1, 2)
    assert joined["a"][1] is None
    assert numbers(joined["b"].left) == [1.0, 2.0]
    assert joined["b"].right == "same"
    split = select_replica(1, joined)
    assert split["a"] == [2, None]
    assert float(split["b"].left) == 2.0


def test_structures_that_differ_name_the_replica() -> None:
    with pytest.raises(ValueMismatchError, match="replica 2 has"):
        regroup([[1], [2], [1, 2]])


def test_one_object_on_all_replicas_stays_as_it_is() -> None:
    shared = tf.constant(1.0)
    assert regroup([shared, shared]) is shared
    assert isinstance(regroup([shared, shared], always_wrap=True), PerReplica)


def test_components_become_their_variable_again(strategy: Any) -> None:
    with strategy.scope():
        v = tf.Variable(1.0)
    assert regroup(list(v.values)) is v


def test_per_replica_goes_through_a_graph_function() -> None:
    value = PerReplica([tf.constant([1.0]), tf.constant([2.0, 3.0])])
    assert value.shape.as_list() == [None]
    doubled = tf.function(lambda x: tf.nest.map_structure(lambda t: t, x))(value)
    assert numbers(doubled) == [[1.0], [2.0, 3.0]]
    assert len(tf.nest.flatten(value, expand_composites=True)) == 2


def test_one_value_of_per_replica_needs_a_replica(strategy: Any) -> None:
    value = PerReplica([tf.constant(1.0), tf.constant(2.0)])
    with pytest.raises(ContextError, match="not inside a replica context"):
        tf.convert_to_tensor(value)
    with pytest.raises(ValueError, match="reduce"):
        tf.cast(value, tf.int32)
    inside = strategy.run(lambda: tf.convert_to_tensor(value) * 10.0)
    assert numbers(inside) == [10.0, 20.0]


def test_mirrored_reads_like_one_value() -> None:
    value = Mirrored([tf.constant(3.0), tf.constant(3.0)])
    assert float(tf.convert_to_tensor(value)) == 3.0
    assert value.numpy() == 3.0
    assert value.dtype == tf.float32


def test_no_values_are_refused() -> None:
    with pytest.raises(ValueMismatchError, match="from no values"):
        PerReplica([])
