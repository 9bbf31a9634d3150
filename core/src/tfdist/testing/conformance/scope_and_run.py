"""Scope, contexts, `run` and `merge_call`."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf

from tfdist.specs import StrategySpec
from tfdist.testing.conformance.helpers import (
    assert_all_equal,
    in_mode,
    local,
    per_replica,
    rows,
)


class ScopeChecks:
    """What `tf.distribute`'s functions say where."""

    def test_outside_there_is_no_strategy(self, strategy: Any) -> None:
        assert not tf.distribute.has_strategy()
        assert tf.distribute.get_strategy() is not strategy

    def test_the_scope_makes_the_strategy_current(self, strategy: Any) -> None:
        with strategy.scope():
            assert tf.distribute.has_strategy()
            assert tf.distribute.get_strategy() is strategy
            assert tf.distribute.in_cross_replica_context()
            assert tf.distribute.get_replica_context() is None
        assert not tf.distribute.has_strategy()

    def test_scopes_of_one_strategy_nest(self, strategy: Any) -> None:
        with strategy.scope(), strategy.scope():
            assert tf.distribute.get_strategy() is strategy

    def test_the_scope_ends_when_its_body_raises(self, strategy: Any) -> None:
        with pytest.raises(KeyError), strategy.scope():
            raise KeyError("body")
        assert not tf.distribute.has_strategy()

    def test_replicas_are_counted(self, strategy: Any, replica_count: int) -> None:
        assert strategy.num_replicas_in_sync == replica_count
        assert len(strategy.extended.worker_devices) == replica_count


class RunChecks:
    """`run` calls the function on every replica with that replica's arguments."""

    def test_results_come_back_in_replica_order(
        self, strategy: Any, replica_count: int, mode: str
    ) -> None:
        values = rows(replica_count)
        argument = per_replica(strategy, values)
        result = in_mode(mode, lambda: strategy.run(lambda x: x * 2, args=(argument,)))()
        assert_all_equal(local(strategy, result), [value * 2 for value in values])

    def test_plain_arguments_go_to_every_replica(
        self, strategy: Any, replica_count: int, mode: str
    ) -> None:
        def step(x: Any, *, factor: float) -> Any:
            return x * factor

        result = in_mode(mode, lambda: strategy.run(step, (tf.constant(3.0),), {"factor": 2.0}))()
        assert_all_equal(local(strategy, result), [6.0] * replica_count)

    def test_structures_are_split_and_put_together(
        self, strategy: Any, replica_count: int, mode: str
    ) -> None:
        values = rows(replica_count)
        argument = {"a": (per_replica(strategy, values), 1.0)}

        def step(nested: dict[str, tuple[Any, float]]) -> dict[str, Any]:
            x, one = nested["a"]
            return {"sum": tf.reduce_sum(x), "pair": (x + one, x - one)}

        result = in_mode(mode, lambda: strategy.run(step, args=(argument,)))()
        assert sorted(result) == ["pair", "sum"]
        assert_all_equal(local(strategy, result["sum"]), [value.sum() for value in values])
        assert_all_equal(local(strategy, result["pair"][1]), [value - 1 for value in values])

    def test_a_step_may_return_nothing(self, strategy: Any, mode: str) -> None:
        result = in_mode(mode, lambda: strategy.run(lambda: None))()
        assert all(part is None for part in strategy.experimental_local_results(result))

    def test_each_replica_knows_itself(self, strategy: Any, replica_count: int, mode: str) -> None:
        def step() -> Any:
            context = tf.distribute.get_replica_context()
            assert context.strategy is strategy
            assert context.num_replicas_in_sync == replica_count
            assert tf.distribute.get_strategy() is strategy
            assert not tf.distribute.in_cross_replica_context()
            return tf.identity(context.replica_id_in_sync_group)

        result = in_mode(mode, lambda: strategy.run(step))()
        assert_all_equal(local(strategy, result), range(replica_count))

    def test_each_replica_computes_on_its_device(self, strategy: Any) -> None:
        result = strategy.run(lambda: tf.constant(1.0) + 1.0)
        parts = strategy.experimental_local_results(result)
        assert [part.device for part in parts] == list(strategy.extended.worker_devices)

    def test_an_error_of_the_step_reaches_the_caller(
        self, strategy: Any, replica_count: int, mode: str
    ) -> None:
        def step() -> Any:
            raise KeyError("no such row")

        with pytest.raises(KeyError, match="no such row"):
            in_mode(mode, lambda: strategy.run(step))()
        after = strategy.run(lambda: tf.constant(1))
        assert_all_equal(local(strategy, after), [1] * replica_count)

    def test_merge_call_meets_once_and_answers_each(
        self, strategy: Any, replica_count: int, mode: str, spec: StrategySpec
    ) -> None:
        if "per_replica" not in spec.capabilities.tracing:
            pytest.skip("the strategy declares no per-replica tracing, which merge_call needs")
        values = rows(replica_count)
        argument = per_replica(strategy, values)
        calls = []

        def merge(merged: Any, x: Any, *, factor: float) -> Any:
            calls.append(tf.distribute.in_cross_replica_context())
            return merged.reduce(tf.distribute.ReduceOp.SUM, x, axis=None) * factor

        def step(x: Any) -> Any:
            context = tf.distribute.get_replica_context()
            return context.merge_call(merge, args=(x,), kwargs={"factor": 10.0}) + x

        result = in_mode(mode, lambda: strategy.run(step, args=(argument,)))()
        total = sum(values) * 10
        assert_all_equal(local(strategy, result), [total + value for value in values])
        assert calls == [True]
