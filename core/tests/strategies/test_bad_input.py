"""What is refused before anything starts, and stopping."""

import _thread
import threading
from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf

import tfdist
from tfdist import errors

Devices = Callable[[int], list[str]]


@pytest.fixture
def strategy(cpu_devices: Devices) -> Any:
    return tfdist.strategy("mirrored", devices=cpu_devices(2))


@pytest.mark.parametrize(
    ("devices", "text"),
    [
        (["CPU:99"], "no such device"),
        (["CPU:0", "CPU:0"], "repeat"),
        (["CPU:0", "cpu:0"], "repeat"),
        ([], "non-empty list"),
        (["nonsense:x"], "device"),
    ],
)
def test_devices(devices: list[str], text: str) -> None:
    with pytest.raises(errors.DeviceError, match=text):
        tfdist.strategy("mirrored", devices=devices)


def test_run_arguments(strategy: Any) -> None:
    with pytest.raises(errors.OptionError, match="positional args must be a list or tuple"):
        strategy.run(lambda x: x, args=3)
    with pytest.raises(errors.OptionError, match="A function was expected"):
        strategy.run(3)
    with pytest.raises(errors.OptionError, match="RunOptions"):
        strategy.run(lambda: 1, options={"a": 1})


def test_reduce_op_and_axis(strategy: Any) -> None:
    with pytest.raises(errors.OptionError, match="SUM or MEAN"):
        strategy.reduce("MAX", 1.0, axis=None)
    with pytest.raises(errors.ValueMismatchError, match="rank 0"):
        strategy.reduce("SUM", strategy.run(lambda: tf.constant(1.0)), axis=0)


def test_meetings_differ_in_number(strategy: Any) -> None:
    def step() -> None:
        context = tf.distribute.get_replica_context()
        if int(context.replica_id_in_sync_group) == 0:
            context.all_reduce("SUM", tf.constant(1.0))

    with pytest.raises(errors.ValueMismatchError, match="equally often"):
        strategy.run(step)


def test_meeting_inside_control_flow(strategy: Any) -> None:
    def step() -> tf.Tensor:
        def reduced() -> tf.Tensor:
            return tf.distribute.get_replica_context().all_reduce("SUM", tf.constant(1.0))

        return tf.cond(tf.random.uniform([]) < 2.0, reduced, lambda: tf.constant(0.0))

    with pytest.raises(errors.ContextError, match="inside control flow"):
        tf.function(lambda: strategy.run(step))()


def test_the_user_s_error_comes_through_and_no_thread_stays(strategy: Any) -> None:
    def step() -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        strategy.run(step)
    assert not [t for t in threading.enumerate() if t.name.startswith("replica-")]


def test_ctrl_c_stops_at_once_and_leaves_no_thread(strategy: Any) -> None:
    def step() -> None:
        _thread.interrupt_main()
        while True:
            tf.constant(1.0) + 1.0

    with pytest.raises(KeyboardInterrupt):
        strategy.run(step)
    assert not [t for t in threading.enumerate() if t.name.startswith("replica-")]


def test_a_variable_of_another_strategy_is_not_colocated_with(strategy: Any) -> None:
    outside = tf.Variable(1.0)
    with (
        strategy.scope(),
        pytest.raises(errors.OptionError, match="created in this"),
        strategy.extended.colocate_vars_with(outside),
    ):
        pass


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("make_dataset_iterator", "experimental_distribute_dataset"),
        ("make_input_fn_iterator", "distribute_datasets_from_function"),
        ("experimental_run", "run"),
    ],
)
def test_methods_of_tensorflow_1_say_what_to_use(strategy: Any, name: str, instead: str) -> None:
    with pytest.raises(errors.OptionError, match=rf"Use {instead}\(\) instead"):
        getattr(strategy, name)(None)


@pytest.mark.parametrize("count", [3, 4])
def test_values_of_another_strategy(strategy: Any, cpu_devices: Devices, count: int) -> None:
    other = tfdist.strategy("mirrored", devices=cpu_devices(count))
    theirs = other.run(lambda: tf.ones([1]))
    with other.scope():
        v = tf.Variable(1.0)
    calls = {
        "run": lambda: strategy.run(tf.identity, args=(theirs,)),
        "run with": lambda: strategy.run(tf.identity, args=(v,)),
        "reduce": lambda: strategy.reduce("SUM", theirs, axis=None),
        "gather": lambda: strategy.gather(theirs, axis=0),
    }
    for name, call in calls.items():
        with pytest.raises(errors.ValueMismatchError, match=f"Cannot {name}.*2 replicas"):
            call()


def test_what_was_chosen_is_logged(cpu_devices: Devices, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", "tfdist"):
        tfdist.strategy("mirrored", devices=cpu_devices(2), cross_device_ops="hierarchical_copy")
    (line,) = [r.message for r in caplog.records if "MirroredStrategy:" in r.message]
    assert "MirroredStrategy: 2 replicas on /job:localhost/replica:0/task:0/device:CPU:0" in line
    assert "HierarchicalCopyAllReduce" in line
