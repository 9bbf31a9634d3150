"""Values made by a function, one a replica."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf

from tfdist.errors import ValueMismatchError
from tfdist.input import values_from_function
from tfdist.values import PerReplica

Strategies = Callable[[int], Any]


def test_contexts(strategy: Strategies) -> None:
    value = values_from_function(
        lambda context: (context.replica_id_in_sync_group, context.num_replicas_in_sync),
        strategy(3),
    )
    assert [leaf.values for leaf in value] == [(0, 1, 2), (3, 3, 3)]


@pytest.mark.parametrize("replicas", [1, 2])
def test_always_per_replica(strategy: Strategies, replicas: int) -> None:
    value = values_from_function(lambda _: "text", strategy(replicas))
    assert isinstance(value, PerReplica)
    assert value.values == ("text",) * replicas


def test_tensors_of_any_kind(strategy: Strategies) -> None:
    def value_fn(context: Any) -> Any:
        replica_id = context.replica_id_in_sync_group
        return {"dense": tf.ones([replica_id]), "ragged": tf.ragged.constant([[1] * replica_id])}

    value = values_from_function(value_fn, strategy(2))
    assert [tensor.shape for tensor in value["dense"].values] == [(0,), (1,)]
    assert value["ragged"].values[1].to_list() == [[1]]


def test_in_a_graph(strategy: Strategies) -> None:
    @tf.function
    def made() -> Any:
        return values_from_function(
            lambda context: tf.constant(context.replica_id_in_sync_group), strategy(2)
        ).values

    assert [int(x) for x in made()] == [0, 1]


def test_structures_must_agree(strategy: Strategies) -> None:
    def value_fn(context: Any) -> Any:
        return (1, 2) if context.replica_id_in_sync_group else 1

    with pytest.raises(ValueMismatchError):
        values_from_function(value_fn, strategy(2))
