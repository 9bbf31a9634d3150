"""What strategies take from TensorFlow's insides is still there and does what it is taken for."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf

import tfdist
from tfdist.tf_internals import autograph, contexts, saving, threads, type_specs, variables


@pytest.fixture
def strategy(cpu_devices: Callable[[int], list[str]]) -> Any:
    return tfdist.strategy("mirrored", devices=cpu_devices(2))


def test_cross_replica_mode_makes_the_strategy_current_without_its_scope(strategy: Any) -> None:
    with contexts.cross_replica_mode(strategy):
        assert tf.distribute.get_strategy() is strategy
        assert tf.distribute.in_cross_replica_context()
        assert not hasattr(tf.Variable(1.0), "is_distributed_variable")
    assert not tf.distribute.has_strategy()


def test_the_default_replica_context_is_told_apart(strategy: Any) -> None:
    assert contexts.is_default_replica_context(tf.distribute.get_replica_context())
    with strategy.scope():
        assert not contexts.is_default_replica_context(tf.distribute.get_replica_context())


def test_update_context_carries_the_replica() -> None:
    with contexts.UpdateContext(3):
        assert contexts.get_update_replica_id() == 3
    assert contexts.get_update_replica_id() is None


def test_sync_on_read_context_is_seen() -> None:
    with tf.__internal__.distribute.variable_sync_on_read_context():
        assert contexts.in_variable_sync_on_read_context()
    assert not contexts.in_variable_sync_on_read_context()


def test_a_thread_goes_on_in_the_graph_and_scopes_of_another() -> None:
    names = []

    @tf.function
    def outer() -> tf.Tensor:
        with tf.name_scope("here"), tf.device("CPU:0"):
            state = threads.capture()

            def run() -> None:
                with state.enter(1, "/device:CPU:1"):
                    made = tf.constant(1.0, name="made")
                    names.append((made.graph is state.graph, made.name, made.device[-5:]))

            thread = threading.Thread(target=run)
            thread.start()
            thread.join()
        return tf.constant(0.0)

    outer()
    assert names == [(True, "here/replica_1/made:0", "CPU:1")]


def test_a_thread_is_eager_where_the_other_was() -> None:
    state, seen = threads.capture(), []

    def run() -> None:
        with state.enter(0, "/device:CPU:0"):
            seen.append(tf.executing_eagerly())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen == [True]


def test_a_meeting_keeps_names_and_control_dependencies() -> None:
    with tf.Graph().as_default(), tf.name_scope("inner"):
        first = tf.no_op(name="first")
        value = tf.compat.v1.placeholder(tf.float32)
        with tf.control_dependencies([first]):
            place = threads.meeting_place()
        with threads.at_meeting([place, place]):
            waiting = tf.identity(value, name="waiting")
        assert waiting.name == "inner/waiting:0"
        assert waiting.op.control_inputs == [first]


def test_autograph_converts_only_what_is_being_converted() -> None:
    def fn(x: Any) -> Any:
        return "positive" if x > 0 else "negative"

    assert autograph.convert(fn)(3) == "positive"

    @tf.function
    def outer(x: tf.Tensor) -> tf.Tensor:
        def branch(y: tf.Tensor) -> tf.Tensor:
            if y > 0.0:
                return y * 2.0
            return y

        return autograph.convert(branch)(x)

    assert float(outer(tf.constant(3.0))) == 6.0


def test_device_names(cpu_devices: Callable[[int], list[str]]) -> None:
    cpu_devices(2)
    full = "/job:localhost/replica:0/task:0/device:CPU:1"
    assert type_specs.canonicalize_device("cpu:1") == full
    with tf.device("CPU:1"):
        assert type_specs.current_device() == full
    assert not type_specs.current_device()


def test_variables_are_traced_by_identity(strategy: Any) -> None:
    with strategy.scope():
        a, b = tf.Variable(1.0), tf.Variable(1.0)
    first, same, other = (variables.VariableTraceType(v) for v in (a, a, b))
    assert first == same
    assert hash(first) == hash(same)
    assert first != other
    assert first.placeholder_value() is a


def test_recording_stops() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with variables.stop_recording():
            y = x * x
    assert tape.gradient(y, x) is None


def test_where_code_is_built() -> None:
    assert not variables.inside_function()
    assert not variables.in_plain_graph()
    assert tf.function(lambda: tf.constant(variables.inside_function()))()
    with tf.Graph().as_default():
        assert variables.in_plain_graph()


def test_saving_is_noticed(tmp_path: Any) -> None:
    seen = []
    module = tf.Module()

    @tf.function(input_signature=[])
    def fn() -> tf.Tensor:
        seen.append(saving.is_saving_plain())
        return tf.constant(1.0)

    module.fn = fn
    tf.saved_model.save(module, str(tmp_path / "plain"))
    assert seen == [True]
    assert not saving.is_saving_plain()
    expand = tf.saved_model.experimental.VariablePolicy.EXPAND_DISTRIBUTED_VARIABLES
    options = tf.saved_model.SaveOptions(experimental_variable_policy=expand)
    assert saving.expands_components(options)
    assert not saving.expands_components(tf.saved_model.SaveOptions())


def test_expanded_components_are_written_beside_the_variable(strategy: Any, tmp_path: Any) -> None:
    module = tf.Module()
    with strategy.scope():
        module.v = tf.Variable(2.0, name="v")
    expand = tf.saved_model.experimental.VariablePolicy.EXPAND_DISTRIBUTED_VARIABLES
    options = tf.saved_model.SaveOptions(experimental_variable_policy=expand)
    tf.saved_model.save(module, str(tmp_path / "expanded"), options=options)
    assert float(tf.saved_model.load(str(tmp_path / "expanded")).v) == 2.0
