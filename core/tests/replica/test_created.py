"""Variables that the user's function creates on every replica."""

from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf

import tfdist
from tfdist.errors import ValueMismatchError


@pytest.fixture
def strategy(cpu_devices: Callable[[int], list[str]]) -> Any:
    return tfdist.strategy("mirrored", devices=cpu_devices(2))


def replica_id() -> int:
    return int(tf.distribute.get_replica_context().replica_id_in_sync_group)


def test_all_replicas_get_what_the_first_made(strategy: Any) -> None:
    made = []

    def step() -> tf.Tensor:
        made.append(tf.Variable(float(len(made)), name="v"))
        return made[-1] + 1.0

    results = strategy.experimental_local_results(strategy.run(step))
    assert made[0] is made[1]
    assert [x.numpy() for x in results] == [1.0, 1.0]


def test_numbers_that_make_names_unique_do_not_matter(strategy: Any) -> None:
    made = strategy.run(
        lambda: tf.Variable(1.0, name=f"layer_{replica_id()}/kernel_{replica_id()}")
    )
    assert made.name == "layer_0/kernel_0:0"


def test_other_names_are_refused(strategy: Any) -> None:
    with pytest.raises(ValueMismatchError, match="'b'.*Replica 0 created 'a:0'"):
        strategy.run(lambda: tf.Variable(1.0, name="ab"[replica_id()]))


def test_more_variables_than_the_first_replica_made_are_refused(strategy: Any) -> None:
    def step() -> None:
        for _ in range(1 + replica_id()):
            tf.Variable(1.0, name="v")

    with pytest.raises(ValueMismatchError, match="Replica 0 created 1 variables"):
        strategy.run(step)
