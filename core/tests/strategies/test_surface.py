"""The surface of strategies beyond the conformance suite."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tfdist

SUM = tf.distribute.ReduceOp.SUM


@pytest.fixture(params=["mirrored", "central_storage"])
def strategy(request: pytest.FixtureRequest, cpu_devices: Callable[[int], list[str]]) -> Any:
    option = {"mirrored": "devices", "central_storage": "compute_devices"}[request.param]
    return tfdist.strategy(request.param, **{option: cpu_devices(2)})


def local(strategy: Any, value: Any) -> list[Any]:
    return [np.asarray(x).tolist() for x in strategy.experimental_local_results(value)]


def per_replica(strategy: Any, *values: Any) -> Any:
    return strategy.experimental_distribute_values_from_function(
        lambda context: tf.constant(values[context.replica_id_in_sync_group])
    )


def test_set_strategy_stays_until_it_is_taken_back(strategy: Any) -> None:
    tf.distribute.experimental_set_strategy(strategy)
    try:
        assert tf.distribute.get_strategy() is strategy
        assert tf.Variable(1.0).distribute_strategy is strategy
    finally:
        tf.distribute.experimental_set_strategy(None)
    assert not tf.distribute.has_strategy()


def test_the_gradient_of_all_gather_is_each_replica_s_share(strategy: Any) -> None:
    # Replica r gathers x = [x0, x1, x2] and weighs it by (r + 1) * [1, 10, 100]: sums to 3 * w.
    rows = per_replica(strategy, [1.0], [2.0, 3.0])

    def fn(x: tf.Tensor) -> tf.Tensor:
        context = tf.distribute.get_replica_context()
        with tf.GradientTape() as tape:
            tape.watch(x)
            gathered = context.all_gather(x, axis=0)
            scale = tf.cast(context.replica_id_in_sync_group + 1, tf.float32)
            loss = tf.reduce_sum(gathered * scale * tf.constant([1.0, 10.0, 100.0]))
        return tape.gradient(loss, x)

    for run in (strategy.run, tf.function(strategy.run)):
        assert local(strategy, run(fn, args=(rows,))) == [[3.0], [30.0, 300.0]]


def test_the_gradient_of_a_mean_is_a_mean(strategy: Any) -> None:
    x = per_replica(strategy, 1.0, 2.0)

    def fn(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            tape.watch(x)
            mean = tf.distribute.get_replica_context().all_reduce("MEAN", x)
            loss = mean * mean
        return tape.gradient(loss, x)

    # mean = 1.5; each replica's loss has the gradient 3 by it; the mean of both is 3.
    assert local(strategy, strategy.run(fn, args=(x,))) == [3.0, 3.0]


def test_control_flow_inside_the_step(strategy: Any) -> None:
    @tf.function
    def step(x: Any) -> Any:
        def fn(x: tf.Tensor) -> tf.Tensor:
            total = tf.constant(0.0)
            for i in tf.range(3):
                if x > 1.5:
                    total += x
                else:
                    total -= tf.cast(i, tf.float32)
            return total

        return strategy.run(fn, args=(x,))

    assert local(strategy, step(per_replica(strategy, 1.0, 2.0))) == [-3.0, 6.0]


def test_steps_in_a_loop_of_the_graph(strategy: Any) -> None:
    with strategy.scope():
        v = tf.Variable(0.0, aggregation=tf.VariableAggregation.SUM)

    @tf.function
    def loop() -> None:
        for _ in tf.range(4):
            strategy.run(lambda: v.assign_add(tf.constant(1.0)))

    loop()
    assert float(v) == 8.0


def test_nested_functions_without_a_meeting(strategy: Any) -> None:
    inner = tf.function(lambda x: x * 2.0)

    def fn(x: tf.Tensor) -> tf.Tensor:
        return inner(inner(x))

    assert local(strategy, strategy.run(fn, args=(per_replica(strategy, 1.0, 2.0),))) == [4.0, 8.0]


def test_run_options_are_taken(strategy: Any) -> None:
    options = tf.distribute.RunOptions(experimental_enable_dynamic_batch_size=False)
    assert local(strategy, strategy.run(lambda: 1.5, options=options)) in ([1.5], [1.5, 1.5])


def test_batch_reduce_to_and_read_var(strategy: Any) -> None:
    with strategy.scope():
        v = tf.Variable(5.0)
        values = per_replica(strategy, 1.0, 2.0)
        first, second = strategy.extended.batch_reduce_to(SUM, [(values, v), (values, "CPU:0")])
        assert local(strategy, first)[0] == 3.0
        assert local(strategy, second) == [3.0]
        assert float(strategy.extended.read_var(v)) == 5.0
    assert strategy.extended.value_container(v.values[0]) is v


def test_update_returns_local_results_unless_grouped(strategy: Any) -> None:
    with strategy.scope():
        v = tf.Variable(1.0)
        updated = strategy.extended.update(v, lambda x: x.assign_add(2.0) * 10.0, group=False)
    copies = len(strategy.extended.parameter_devices)
    assert [float(x) for x in updated] == [30.0] * copies


def test_update_in_a_step_with_aggregated_values(strategy: Any) -> None:
    with strategy.scope():
        v = tf.Variable(1.0)

    def fn() -> None:
        context = tf.distribute.get_replica_context()
        total = context.all_reduce("SUM", tf.constant(2.0))
        strategy.extended.update(v, lambda x, y: x.assign_add(y), args=(total,), group=False)

    tf.function(lambda: strategy.run(fn))()
    assert float(v) == 5.0


def test_sync_on_read_context_reads_the_sum_in_a_step(strategy: Any) -> None:
    with strategy.scope():
        v = tf.Variable(
            0.0,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )

    def fn(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        v.assign_add(x)
        alone = tf.identity(v)
        with tf.__internal__.distribute.variable_sync_on_read_context():
            together = tf.convert_to_tensor(v)
        return alone, together

    alone, together = strategy.run(fn, args=(per_replica(strategy, 1.0, 2.0),))
    assert local(strategy, alone) == [1.0, 2.0]
    assert local(strategy, together) == [3.0, 3.0]


@pytest.mark.parametrize("value", [2.0, 2, np.float32(2.0), tf.constant(2.0)])
def test_what_all_replicas_pass_counts_for_each(strategy: Any, value: Any) -> None:
    with strategy.scope():
        v = tf.Variable(1.0, aggregation=tf.VariableAggregation.SUM)
        mean = tf.Variable(1.0, aggregation=tf.VariableAggregation.MEAN)
    strategy.run(lambda: v.assign_add(value))
    strategy.run(lambda: mean.assign_add(value))
    assert float(v) == 5.0
    assert float(mean) == 3.0
    tensor = tf.constant(2.0)
    reduced = strategy.run(lambda: tf.distribute.get_replica_context().all_reduce("SUM", tensor))
    assert local(strategy, reduced) == [4.0, 4.0]


def test_two_strategies_in_one_process(cpu_devices: Callable[[int], list[str]]) -> None:
    two = tfdist.strategy("mirrored", devices=cpu_devices(2))
    four = tfdist.strategy("mirrored", devices=cpu_devices(4))
    for strategy in (two, four, two):
        with strategy.scope():
            v = tf.Variable(0.0, aggregation=tf.VariableAggregation.SUM)
        tf.function(strategy.run)(v.assign_add, args=(tf.constant(1.0),))
        assert float(v) == strategy.num_replicas_in_sync


def test_a_variable_of_another_strategy_is_refused_in_a_step(
    cpu_devices: Callable[[int], list[str]],
) -> None:
    one = tfdist.strategy("mirrored", devices=cpu_devices(2))
    other = tfdist.strategy("mirrored", devices=cpu_devices(2))
    with one.scope():
        v = tf.Variable(0.0, aggregation=tf.VariableAggregation.SUM)
    with pytest.raises(RuntimeError, match="Mixing different"):
        other.run(lambda: v.assign_add(tf.constant(1.0)))
    assert float(v) == 0.0
