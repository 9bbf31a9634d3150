"""`reduce`, `gather`, and the collectives inside a step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfdist.specs import StrategySpec
from tfdist.testing.conformance.helpers import (
    assert_all_equal,
    assert_equal,
    in_mode,
    local,
    per_replica,
    rows,
)

SUM, MEAN = tf.distribute.ReduceOp.SUM, tf.distribute.ReduceOp.MEAN


class ReduceChecks:
    """One value out of those of all replicas, seen from outside the step."""

    def test_sum_and_mean_over_replicas(self, strategy: Any, replica_count: int, mode: str) -> None:
        values = rows(replica_count)
        value = per_replica(strategy, values)
        reduce = in_mode(mode, lambda op: strategy.reduce(op, value, axis=None))
        assert_equal(reduce(SUM), np.sum(values, axis=0))
        assert_equal(reduce(MEAN), np.mean(values, axis=0))

    def test_integers_keep_their_type(self, strategy: Any, replica_count: int, mode: str) -> None:
        value = per_replica(strategy, [np.int64(2**40 + i) for i in range(replica_count)])
        total = in_mode(mode, lambda: strategy.reduce(SUM, value, axis=None))()
        assert total.dtype == tf.int64
        assert int(total) == sum(2**40 + i for i in range(replica_count))

    @pytest.mark.parametrize("uneven", [False, True], ids=["even", "uneven"])
    def test_over_an_axis_each_row_counts_once(
        self, strategy: Any, replica_count: int, mode: str, uneven: bool
    ) -> None:
        values = rows(replica_count, uneven=uneven)
        value = per_replica(strategy, values)
        reduce = in_mode(mode, lambda op: strategy.reduce(op, value, axis=0))
        together = np.concatenate(values)
        assert_equal(reduce(SUM), together.sum(axis=0))
        assert_equal(reduce(MEAN), together.mean(axis=0))

    def test_structures(self, strategy: Any, replica_count: int, mode: str) -> None:
        values = rows(replica_count)
        nested = {"a": per_replica(strategy, values), "b": (per_replica(strategy, values),)}
        result = in_mode(mode, lambda: strategy.reduce(SUM, nested, axis=None))()
        assert_equal(result["a"], np.sum(values, axis=0))
        assert_equal(result["b"][0], np.sum(values, axis=0))


class GatherChecks:
    """The values of all replicas, one after the other."""

    def test_along_the_first_dimension_with_uneven_shares(
        self, strategy: Any, replica_count: int, mode: str
    ) -> None:
        values = rows(replica_count, uneven=True)
        value = per_replica(strategy, values)
        result = in_mode(mode, lambda: strategy.gather(value, axis=0))()
        assert_equal(result, np.concatenate(values))

    def test_along_another_dimension(self, strategy: Any, replica_count: int, mode: str) -> None:
        values = rows(replica_count)
        value = per_replica(strategy, values)
        result = in_mode(mode, lambda: strategy.gather(value, axis=1))()
        assert_equal(result, np.concatenate(values, axis=1))


class CollectiveChecks:
    """What the replicas of a step do together."""

    def test_all_reduce(self, strategy: Any, replica_count: int, mode: str) -> None:
        values = rows(replica_count)
        value = per_replica(strategy, values)

        def step(x: Any) -> Any:
            context = tf.distribute.get_replica_context()
            return context.all_reduce(SUM, x), context.all_reduce(MEAN, [x, x + 1])

        total, means = in_mode(mode, lambda: strategy.run(step, args=(value,)))()
        assert_all_equal(local(strategy, total), [np.sum(values, axis=0)] * replica_count)
        mean = np.mean(values, axis=0)
        assert_all_equal(local(strategy, means[0]), [mean] * replica_count)
        assert_all_equal(local(strategy, means[1]), [mean + 1] * replica_count)

    def test_all_reduce_of_sparse_values(
        self, strategy: Any, replica_count: int, mode: str, spec: StrategySpec
    ) -> None:
        if not spec.capabilities.sparse:
            pytest.skip("the strategy declares no sparse values")

        def step() -> Any:
            context = tf.distribute.get_replica_context()
            i = tf.reshape(tf.cast(context.replica_id_in_sync_group, tf.int64), [1])
            values = tf.reshape(tf.cast(i + 1, tf.float32), [1, 1])
            slices = tf.IndexedSlices(values, i, dense_shape=tf.constant([8, 1], tf.int64))
            return tf.convert_to_tensor(context.all_reduce(SUM, slices))

        expected = np.zeros([8, 1])
        expected[:replica_count, 0] = np.arange(1, replica_count + 1)
        result = in_mode(mode, lambda: strategy.run(step))()
        assert_all_equal(local(strategy, result), [expected] * replica_count)

    def test_gradients_go_through_all_reduce(
        self, strategy: Any, replica_count: int, mode: str
    ) -> None:
        # y = i * sum(x): every replica's x is in every replica's y, so dx = 0 + 1 + ... + (n - 1).
        def step() -> Any:
            context = tf.distribute.get_replica_context()
            x = tf.constant(2.0)
            with tf.GradientTape() as tape:
                tape.watch(x)
                i = tf.cast(context.replica_id_in_sync_group, tf.float32)
                y = i * context.all_reduce(SUM, x)
            return tape.gradient(y, x)

        result = in_mode(mode, lambda: strategy.run(step))()
        expected = sum(range(replica_count))
        assert_all_equal(local(strategy, result), [expected] * replica_count)

    @pytest.mark.parametrize("axis", [0, 1])
    def test_all_gather(
        self, strategy: Any, replica_count: int, mode: str, axis: int, spec: StrategySpec
    ) -> None:
        if "all_gather" not in spec.capabilities.collectives:
            pytest.skip("the strategy declares no all_gather")
        values = rows(replica_count)
        value = per_replica(strategy, values)

        def step(x: Any) -> Any:
            return tf.distribute.get_replica_context().all_gather(x, axis=axis)

        result = in_mode(mode, lambda: strategy.run(step, args=(value,)))()
        together = np.concatenate(values, axis=axis)
        assert_all_equal(local(strategy, result), [together] * replica_count)
