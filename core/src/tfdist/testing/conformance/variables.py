"""Variables by synchronization and aggregation, and the extended API on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfdist.testing.conformance.helpers import (
    assert_all_equal,
    assert_equal,
    in_mode,
    local,
    per_replica,
)

Aggregation = tf.VariableAggregation
Synchronization = tf.VariableSynchronization
SUM, MEAN = tf.distribute.ReduceOp.SUM, tf.distribute.ReduceOp.MEAN

# What n replicas make of 1, 2, ..., n.
AGGREGATED: dict[Any, Callable[[int], float]] = {
    Aggregation.SUM: lambda n: n * (n + 1) / 2,
    Aggregation.MEAN: lambda n: (n + 1) / 2,
    Aggregation.ONLY_FIRST_REPLICA: lambda _: 1.0,
}
by_aggregation = pytest.mark.parametrize("aggregation", AGGREGATED, ids=lambda a: a.name)


def replica_number() -> Any:
    """1 on the first replica, 2 on the second, ..."""
    i = tf.distribute.get_replica_context().replica_id_in_sync_group
    return tf.cast(i, tf.float32) + 1.0


class VariableChecks:
    """A variable is one variable, whatever the number of its copies."""

    @by_aggregation
    def test_on_write_aggregates_what_the_replicas_assign(
        self, strategy: Any, replica_count: int, mode: str, aggregation: Any
    ) -> None:
        with strategy.scope():
            v = tf.Variable(10.0, aggregation=aggregation)
        assign = in_mode(mode, lambda: strategy.run(lambda: v.assign(replica_number())))
        add = in_mode(mode, lambda: strategy.run(lambda: v.assign_add(replica_number())))
        value = AGGREGATED[aggregation](replica_count)
        assign()
        assert_equal(v, value)
        add()
        assert_equal(v, value * 2)
        copies = len(strategy.extended.parameter_devices)
        assert_all_equal(local(strategy, v), [value * 2] * copies)

    @by_aggregation
    def test_on_read_aggregates_when_read(
        self, strategy: Any, replica_count: int, mode: str, aggregation: Any
    ) -> None:
        with strategy.scope():
            v = tf.Variable(0.0, synchronization=Synchronization.ON_READ, aggregation=aggregation)

        def step() -> Any:
            v.assign_add(replica_number())
            return v.read_value()

        result = in_mode(mode, lambda: strategy.run(step))()
        own = [float(i + 1) for i in range(replica_count)]
        assert_all_equal(local(strategy, result), own)
        assert_equal(v.read_value(), AGGREGATED[aggregation](replica_count))

    def test_assigned_outside_a_step_it_is_the_same_everywhere(
        self, strategy: Any, replica_count: int, mode: str
    ) -> None:
        with strategy.scope():
            v = tf.Variable([1.0, 2.0])

        def outside() -> None:
            with strategy.scope():
                v.assign([3.0, 4.0])
                v.assign_sub([1.0, 1.0])

        in_mode(mode, outside)()
        result = in_mode(mode, lambda: strategy.run(lambda: v * 2))()
        assert_all_equal(local(strategy, result), [[4.0, 6.0]] * replica_count)

    def test_integers_are_summed_as_integers(
        self, strategy: Any, replica_count: int, mode: str
    ) -> None:
        with strategy.scope():
            v = tf.Variable(
                0,
                dtype=tf.int64,
                synchronization=Synchronization.ON_READ,
                aggregation=Aggregation.SUM,
            )
        in_mode(mode, lambda: strategy.run(lambda: v.assign_add(2**40)))()
        assert v.dtype == tf.int64
        assert int(v.read_value()) == 2**40 * replica_count

    def test_update_changes_every_copy(self, strategy: Any, mode: str) -> None:
        with strategy.scope():
            v = tf.Variable(1.0)

        def change() -> None:
            with strategy.scope():
                strategy.extended.update(v, lambda x, y: x.assign_add(y), args=(4.0,))

        in_mode(mode, change)()
        copies = len(strategy.extended.parameter_devices)
        assert_all_equal(local(strategy, v), [5.0] * copies)

    def test_gradients_reach_the_variable(
        self, strategy: Any, replica_count: int, mode: str
    ) -> None:
        with strategy.scope():
            v = tf.Variable(3.0)

        def step() -> Any:
            with tf.GradientTape() as tape:
                y = v * v * replica_number()
            return tape.gradient(y, v)

        result = in_mode(mode, lambda: strategy.run(step))()
        assert_all_equal(local(strategy, result), [6.0 * (i + 1) for i in range(replica_count)])


class ExtendedChecks:
    """`strategy.extended`, which optimizers and libraries call."""

    def test_variables_know_where_they_were_made(self, strategy: Any) -> None:
        with strategy.scope():
            inside = tf.Variable(1.0)
        assert strategy.extended.variable_created_in_scope(inside)
        assert not strategy.extended.variable_created_in_scope(tf.Variable(1.0))

    def test_a_variable_made_in_the_scope_is_a_tf_variable(self, strategy: Any) -> None:
        with strategy.scope():
            v = tf.Variable([1.0, 2.0], name="weights", trainable=False)
        assert isinstance(v, tf.Variable)
        assert (v.name, v.dtype, v.shape, v.trainable) == ("weights:0", tf.float32, [2], False)

    def test_reduce_to_a_variable(self, strategy: Any, replica_count: int) -> None:
        with strategy.scope():
            v, w = tf.Variable(0.0), tf.Variable(0.0)
            numbers = per_replica(strategy, list(np.arange(replica_count, dtype=np.float32)))
            total = strategy.extended.reduce_to(SUM, numbers, v)
            both = strategy.extended.batch_reduce_to(MEAN, [(numbers, v), (numbers, w)])
        first = strategy.experimental_local_results(total)[0]
        assert_equal(first, sum(range(replica_count)))
        mean = np.arange(replica_count).mean()
        for result in both:
            assert_equal(strategy.experimental_local_results(result)[0], mean)

    def test_a_plain_value_is_its_own_local_result(self, strategy: Any) -> None:
        assert strategy.experimental_local_results(5) == (5,)
