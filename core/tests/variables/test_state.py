"""State beside plain variables: generators, tables, modules, copies, lazy and typed variables."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tfdist
from tfdist import errors

AGGREGATION = tf.VariableAggregation


@pytest.fixture(params=["one_device", "mirrored", "central_storage"])
def strategy(request: pytest.FixtureRequest, cpu_devices: Callable[[int], list[str]]) -> Any:
    options: dict[str, Any] = {
        "one_device": {"device": "CPU:1"},
        "mirrored": {"devices": cpu_devices(2)},
        "central_storage": {"compute_devices": cpu_devices(2)},
    }[request.param]
    return tfdist.strategy(request.param, **options)


@pytest.fixture
def mirrored(cpu_devices: Callable[[int], list[str]]) -> Any:
    return tfdist.strategy("mirrored", devices=cpu_devices(2))


def test_a_generator_differs_between_replicas_and_repeats_under_a_seed(mirrored: Any) -> None:
    def draw(in_graph: bool) -> list[list[float]]:
        with mirrored.scope():
            generator = tf.random.Generator.from_seed(7)

        def step() -> Any:
            return mirrored.run(lambda: generator.uniform([3]))

        values = (tf.function(step) if in_graph else step)()
        return [x.numpy().tolist() for x in mirrored.experimental_local_results(values)]

    eager, graph = draw(in_graph=False), draw(in_graph=True)
    assert eager[0] != eager[1]
    assert eager == draw(in_graph=False) == graph


def test_a_table_is_read_on_every_replica(strategy: Any) -> None:
    with strategy.scope():
        table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([1, 2], tf.int64)), 0
        )
    results = strategy.run(tf.function(lambda: table.lookup(tf.constant(["b", "c"]))))
    for local in strategy.experimental_local_results(results):
        np.testing.assert_array_equal(local, [2, 0])


def test_a_module_tracks_the_variable_not_its_components(strategy: Any) -> None:
    module = tf.Module()
    with strategy.scope():
        module.w = tf.Variable([1.0, 2.0], name="w")
        module.c = tf.Variable(3, trainable=False, name="c")
    assert [v.name for v in module.variables] == ["c:0", "w:0"]
    assert [v.name for v in module.trainable_variables] == ["w:0"]
    assert module.trainable_variables[0] is module.w


@pytest.mark.parametrize("kind", ["on_write", "on_read"])
def test_a_deep_copy_is_another_variable_of_the_same_strategy(mirrored: Any, kind: str) -> None:
    options = {"aggregation": AGGREGATION.SUM}
    if kind == "on_read":
        options["synchronization"] = tf.VariableSynchronization.ON_READ
    with mirrored.scope():
        v = tf.Variable([1.0, 2.0], **options)
        copied = copy.deepcopy(v)
        v.assign([5.0, 6.0])
    assert type(copied) is type(v)
    assert copied.distribute_strategy is mirrored
    start = [2.0, 4.0] if kind == "on_read" else [1.0, 2.0]
    np.testing.assert_array_equal(copied.numpy(), start)
    np.testing.assert_array_equal(v.numpy(), [5.0, 6.0])
    assert [x.device for x in copied.values] == [x.device for x in v.values]


def test_variables_made_on_the_first_call_are_made_once(strategy: Any) -> None:
    made: list[tf.Variable] = []

    @tf.function
    def step() -> Any:
        def fn() -> tf.Tensor:
            if not made:
                made.append(tf.Variable(tf.ones([2]) * 3.0))
            return made[0] * 2.0

        return strategy.run(fn)

    for _ in range(2):
        for local in strategy.experimental_local_results(step()):
            np.testing.assert_array_equal(local, [6.0, 6.0])
    assert len(made) == 1
    np.testing.assert_array_equal(made[0].numpy(), [3.0, 3.0])


def test_components_start_with_one_random_value(mirrored: Any) -> None:
    with mirrored.scope():
        v = tf.Variable(lambda: tf.random.normal([4]))
    first, second = (x.numpy() for x in v.values)
    np.testing.assert_array_equal(first, second)


NUMBERS = [tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.int32, tf.int64, tf.complex64]


@pytest.mark.parametrize("dtype", [*NUMBERS, tf.bool, tf.string], ids=lambda d: d.name)
def test_every_dtype_is_created_assigned_and_read(strategy: Any, dtype: tf.DType) -> None:
    first, second = {
        tf.bool: ([True, False], [False, False]),
        tf.string: ([b"a", b"b"], [b"c", b"d"]),
    }.get(dtype, ([1, 2], [3, 4]))
    with strategy.scope():
        v = tf.Variable(tf.constant(first, dtype), aggregation=AGGREGATION.ONLY_FIRST_REPLICA)
    assert v.dtype == dtype
    np.testing.assert_array_equal(v.numpy(), np.array(tf.constant(first, dtype)))
    v.assign(tf.constant(second, dtype))
    np.testing.assert_array_equal(v.numpy(), np.array(tf.constant(second, dtype)))


SCATTERED = {
    "scatter_add": [1.0, 12.0, 3.0],
    "scatter_sub": [1.0, -8.0, 3.0],
    "scatter_mul": [1.0, 20.0, 3.0],
    "scatter_div": [1.0, 0.2, 3.0],
    "scatter_min": [1.0, 2.0, 3.0],
    "scatter_max": [1.0, 10.0, 3.0],
    "scatter_update": [1.0, 10.0, 3.0],
}


@pytest.mark.parametrize("where", ["cross", "replica"])
@pytest.mark.parametrize("method", SCATTERED)
def test_scatter(strategy: Any, method: str, where: str) -> None:
    with strategy.scope():
        v = tf.Variable([1.0, 2.0, 3.0], aggregation=AGGREGATION.ONLY_FIRST_REPLICA)

    def change() -> None:
        getattr(v, method)(tf.IndexedSlices(tf.constant([10.0]), tf.constant([1])))

    if where == "replica":
        strategy.run(change)
    else:
        with strategy.scope():
            change()
    np.testing.assert_allclose(v.numpy(), SCATTERED[method], rtol=1e-6)


def test_scatter_sums_over_replicas(mirrored: Any) -> None:
    with mirrored.scope():
        v = tf.Variable([1.0, 2.0, 3.0], aggregation=AGGREGATION.SUM)
    mirrored.run(lambda: v.scatter_add(tf.IndexedSlices(tf.constant([10.0]), tf.constant([1]))))
    np.testing.assert_array_equal(v.numpy(), [1.0, 22.0, 3.0])
    assert [x.numpy().tolist() for x in v.values] == [[1.0, 22.0, 3.0]] * 2


def test_scatter_of_on_read_is_refused(mirrored: Any) -> None:
    with mirrored.scope():
        v = tf.Variable([1.0], synchronization=tf.VariableSynchronization.ON_READ)
    slices = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
    with pytest.raises(errors.ContextError, match="scatter_add"):
        mirrored.run(lambda: v.scatter_add(slices))


@pytest.mark.parametrize("variable_first", [False, True])
def test_a_function_of_a_variable_is_traced_for_each_variable(
    mirrored: Any, variable_first: bool
) -> None:
    with mirrored.scope():
        a, b = tf.Variable(1.0), tf.Variable(2.0)

    @tf.function
    def read(v: tf.Variable) -> tf.Tensor:
        return v + 10.0

    order = [b, a] if variable_first else [a, b]
    assert [float(read(v)) for v in order] == [float(v) + 10.0 for v in order]


def test_slices_operators_and_indexing(strategy: Any) -> None:
    with strategy.scope():
        v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(v[1], [3.0, 4.0])
    np.testing.assert_array_equal(v @ [[1.0], [1.0]], [[3.0], [7.0]])
    np.testing.assert_array_equal(2.0 * v - 1.0, [[1.0, 3.0], [5.0, 7.0]])
    np.testing.assert_array_equal(tf.gather(v, [1]), [[3.0, 4.0]])
    assert len({v.ref(), v.ref()}) == 1
    assert tf.is_tensor(v)
    assert isinstance(v, tf.Variable)


def test_sparse_gradient_stays_sparse(strategy: Any) -> None:
    with strategy.scope():
        v = tf.Variable([[1.0], [2.0], [3.0]])

    def fn() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.nn.embedding_lookup(v, [1, 1]))
        gradient = tape.gradient(loss, v)
        assert isinstance(gradient, tf.IndexedSlices)
        return tf.convert_to_tensor(gradient)

    for local in strategy.experimental_local_results(strategy.run(tf.function(fn))):
        np.testing.assert_array_equal(local, [[0.0], [2.0], [0.0]])


def test_colocated_variables_lie_with_the_variable(mirrored: Any) -> None:
    with mirrored.scope():
        v = tf.Variable(1.0)
        with mirrored.extended.colocate_vars_with(v):
            w = tf.Variable(2.0)
    assert [x.device for x in w.values] == [x.device for x in v.values]


def test_variable_scopes_of_tensorflow_1_reuse_in_each_replica(mirrored: Any) -> None:
    def fn() -> tf.Tensor:
        v = tf.compat.v1.get_variable("reused", initializer=tf.constant(3.0))
        return v * 2.0

    with tf.compat.v1.Graph().as_default(), tf.compat.v1.Session() as session, mirrored.scope():
        results = mirrored.experimental_local_results(mirrored.run(fn))
        session.run(tf.compat.v1.global_variables_initializer())
        assert session.run(list(results)) == [6.0, 6.0]


@pytest.mark.parametrize("synchronization", [None, "nonsense"])
def test_synchronization_that_cannot_be(mirrored: Any, synchronization: Any) -> None:
    wanted = tf.VariableSynchronization.NONE if synchronization is None else synchronization
    with mirrored.scope(), pytest.raises(ValueError, match="synchronization"):
        tf.Variable(1.0, synchronization=wanted)


def test_mean_of_integers_is_refused(mirrored: Any) -> None:
    with mirrored.scope(), pytest.raises(errors.OptionError, match="non-floating dtype"):
        tf.Variable(1, aggregation=AGGREGATION.MEAN)
