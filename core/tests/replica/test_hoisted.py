"""A tf.function given to run()."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tfdist
from tfdist import errors


@pytest.fixture
def strategy(cpu_devices: Callable[[int], list[str]]) -> Any:
    return tfdist.strategy("mirrored", devices=cpu_devices(2))


def local(strategy: Any, value: Any) -> list[Any]:
    return [x.numpy().tolist() for x in strategy.experimental_local_results(value)]


def per_replica(strategy: Any, *values: Any) -> Any:
    return strategy.experimental_distribute_values_from_function(
        lambda context: tf.constant(values[context.replica_id_in_sync_group])
    )


def test_replicas_meet_in_it(strategy: Any) -> None:
    @tf.function
    def step(x: tf.Tensor) -> tf.Tensor:
        return tf.distribute.get_replica_context().all_reduce("SUM", x)

    assert local(strategy, strategy.run(step, args=(per_replica(strategy, 1.0, 2.0),))) == [3.0] * 2


def test_an_input_signature_bounds_the_traces(strategy: Any) -> None:
    traces = []

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def step(x: tf.Tensor) -> tf.Tensor:
        traces.append(x)
        return x * 2.0

    for rows in (1, 2, 3):
        assert local(strategy, strategy.run(step, args=(tf.ones([rows]),))) == [[2.0] * rows] * 2
    assert len(traces) == 2  # once a replica, whatever the shapes
    uneven = per_replica(strategy, [1.0], [2.0, 3.0])
    assert local(strategy, strategy.run(step, args=(uneven,))) == [[2.0], [4.0, 6.0]]
    assert local(strategy, strategy.run(step, kwargs={"x": tf.ones([1])})) == [[2.0]] * 2


def test_an_input_signature_refuses_other_types(strategy: Any) -> None:
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def step(x: tf.Tensor) -> tf.Tensor:
        return x * 2.0

    with pytest.raises(TypeError, match="int32"):
        strategy.run(step, args=(tf.constant([1, 2]),))


def test_xla_compiles_each_replica(strategy: Any) -> None:
    @tf.function(jit_compile=True)
    def step(x: tf.Tensor) -> tf.Tensor:
        return tf.linalg.matmul(x, x) + 1.0

    result = strategy.run(step, args=(per_replica(strategy, [[2.0]], [[3.0]]),))
    assert local(strategy, result) == [[[5.0]], [[10.0]]]
    in_graph = tf.function(lambda x: strategy.run(step, args=(x,)))
    np.testing.assert_array_equal(
        local(strategy, in_graph(per_replica(strategy, [[2.0]], [[3.0]]))), [[[5.0]], [[10.0]]]
    )


def test_a_meeting_inside_compiled_code_is_refused(strategy: Any) -> None:
    @tf.function(jit_compile=True)
    def step(x: tf.Tensor) -> tf.Tensor:
        return tf.distribute.get_replica_context().all_reduce("SUM", x)

    with pytest.raises(errors.ContextError, match=r"nested tf\.function"):
        strategy.run(step, args=(tf.constant(1.0),))


def test_methods_and_variables_as_arguments(strategy: Any) -> None:
    class Module(tf.Module):
        @tf.function
        def step(self, x: tf.Tensor, v: tf.Variable) -> tf.Tensor:
            return x + v

    with strategy.scope():
        a, b = tf.Variable(1.0), tf.Variable(2.0)
    module = Module()
    assert local(strategy, strategy.run(module.step, args=(tf.constant(1.0), a))) == [2.0] * 2
    assert local(strategy, strategy.run(module.step, args=(tf.constant(1.0), b))) == [3.0] * 2
