"""Datasets split over replicas, and training that gives the numbers of one device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfdist.specs import StrategySpec
from tfdist.testing.conformance.helpers import assert_equal, in_mode, local

SUM = tf.distribute.ReduceOp.SUM
RATE = 0.1


def numbers(count: int) -> Any:
    """A dataset of the numbers 1.0, 2.0, ..., count."""
    return tf.data.Dataset.range(1, count + 1).map(lambda x: tf.cast(x, tf.float32))


class InputChecks:
    """Every element goes to exactly one replica."""

    @pytest.mark.parametrize(("count", "batch"), [(8, 4), (7, 4), (1, 4)])
    def test_a_global_batch_is_split_with_nothing_lost(
        self, strategy: Any, spec: StrategySpec, count: int, batch: int
    ) -> None:
        if count % strategy.num_replicas_in_sync and not spec.capabilities.partial_batches:
            pytest.skip("the strategy declares no partial batches")
        distributed = strategy.experimental_distribute_dataset(numbers(count).batch(batch))
        for _ in range(2):  # two epochs
            seen = [np.concatenate(local(strategy, element)) for element in distributed]
            assert_equal(np.sort(np.concatenate(seen)), np.arange(1, count + 1))
            assert all(len(step) <= batch for step in seen)

    def test_a_loop_may_be_in_a_graph_function(self, strategy: Any) -> None:
        distributed = strategy.experimental_distribute_dataset(numbers(7).batch(4))

        @tf.function
        def epoch(dataset: Any) -> Any:
            total = tf.constant(0.0)
            for element in dataset:
                total += strategy.reduce(
                    SUM, strategy.run(tf.reduce_sum, args=(element,)), axis=None
                )
            return total

        assert_equal(epoch(distributed), 28.0)

    def test_an_iterator_says_when_it_is_at_the_end(self, strategy: Any) -> None:
        dataset = numbers(4).batch(4)
        iterator = iter(strategy.experimental_distribute_dataset(dataset))
        assert_equal(np.concatenate(local(strategy, next(iterator))), [1, 2, 3, 4])
        with pytest.raises(StopIteration):
            next(iterator)

    def test_datasets_from_a_function_get_the_batch_size_a_replica(
        self, strategy: Any, replica_count: int
    ) -> None:
        contexts = []

        def make(context: Any) -> Any:
            contexts.append(context)
            size = context.get_per_replica_batch_size(2 * replica_count)
            return numbers(8 * replica_count).batch(size)

        distributed = strategy.distribute_datasets_from_function(make)
        assert [context.num_replicas_in_sync for context in contexts] == [replica_count]
        steps = [local(strategy, element) for element in distributed]
        assert [len(part) for step in steps for part in step] == [2] * (4 * replica_count)
        seen = np.concatenate([part for step in steps for part in step])
        assert_equal(np.sort(seen), np.arange(1, 8 * replica_count + 1))


class TrainingChecks:
    """Toy regression: prediction w * x for the target 2 * x, loss over the global batch.

    One step of gradient descent from w moves it by RATE * 2 * (2 - w) * mean(x * x).
    """

    @pytest.mark.parametrize("count", [4, 3, 1], ids=["even", "uneven", "one-row"])
    def test_same_numbers_as_on_one_device(
        self, strategy: Any, spec: StrategySpec, mode: str, count: int
    ) -> None:
        if count % strategy.num_replicas_in_sync and not spec.capabilities.partial_batches:
            pytest.skip("the strategy declares no partial batches")
        with strategy.scope():
            w = tf.Variable(0.0, aggregation=tf.VariableAggregation.MEAN)

        def step(x: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum((w * x - 2.0 * x) ** 2) / count
            context = tf.distribute.get_replica_context()
            w.assign_sub(RATE * context.all_reduce(SUM, tape.gradient(loss, w)))
            return loss

        train = in_mode(
            mode, lambda x: strategy.reduce(SUM, strategy.run(step, args=(x,)), axis=None)
        )
        square = np.mean(np.arange(1, count + 1) ** 2)
        expected = 0.0
        for x in strategy.experimental_distribute_dataset(numbers(count).batch(count).repeat(2)):
            assert_equal(train(x), (2.0 - expected) ** 2 * square)
            expected += RATE * 2 * (2.0 - expected) * square
            assert_equal(w, expected)


class SavingChecks:
    """What was trained can be taken elsewhere."""

    def test_a_checkpoint_is_read_without_a_strategy_and_back(
        self, strategy: Any, tmp_path: Path
    ) -> None:
        with strategy.scope():
            v = tf.Variable([1.0, 2.0])
        v.assign([3.0, 4.0])
        path = tf.train.Checkpoint(v=v).save(str(tmp_path / "ours"))
        plain = tf.Variable([0.0, 0.0])
        tf.train.Checkpoint(v=plain).restore(path).assert_consumed()
        assert_equal(plain, [3.0, 4.0])

        plain.assign([5.0, 6.0])
        path = tf.train.Checkpoint(v=plain).save(str(tmp_path / "plain"))
        tf.train.Checkpoint(v=v).restore(path).assert_consumed()
        for copy in local(strategy, strategy.run(v.read_value)):
            assert_equal(copy, [5.0, 6.0])

    def test_a_saved_model_is_read_without_a_strategy(
        self, strategy: Any, spec: StrategySpec, tmp_path: Path
    ) -> None:
        if not spec.capabilities.export:
            pytest.skip("the strategy declares no export")
        with strategy.scope():
            module = tf.Module()
            module.w = tf.Variable(3.0)
        module.predict = tf.function(
            lambda x: module.w * x, input_signature=[tf.TensorSpec([None], tf.float32)]
        )
        tf.saved_model.save(module, str(tmp_path))
        loaded = tf.saved_model.load(str(tmp_path))
        assert_equal(loaded.predict(tf.constant([1.0, 2.0])), [3.0, 6.0])
        assert_equal(loaded.w, 3.0)
