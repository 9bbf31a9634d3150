"""In a graph of TensorFlow 1, what an assignment returns carries the assignment."""

from collections.abc import Callable

import tensorflow as tf

import tfdist
from tfdist.values import Mirrored


def test_fetching_the_result_of_a_step_runs_its_assignments(
    cpu_devices: Callable[[int], list[str]],
) -> None:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        strategy = tfdist.strategy("mirrored", devices=cpu_devices(2))
        with strategy.scope():
            v = tf.Variable(1.0, aggregation=tf.VariableAggregation.SUM)
            step = strategy.run(lambda: v.assign_add(tf.constant(2.0)))
            fetched = strategy.experimental_local_results(step)
        session.run([x.initializer for x in v.values])
        session.run([tf.identity(x) for x in fetched])
        assert session.run([x.value() for x in v.values]) == [5.0, 5.0]


def test_automatic_synchronization_is_on_write(cpu_devices: Callable[[int], list[str]]) -> None:
    with tfdist.strategy("mirrored", devices=cpu_devices(2)).scope():
        v = tf.Variable(1.0)
    assert v.synchronization == tf.VariableSynchronization.ON_WRITE


def test_sessions_fetch_mirrored_values_as_one() -> None:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        value = Mirrored([tf.constant(2.0), tf.constant(2.0)])
        assert session.run(value) == 2.0
