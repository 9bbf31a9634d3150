"""Cases C01 to C11: numbers that do not depend on the number of replicas."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from tests.cases.toy import ROUTES

routes = pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.__name__)
near = pytest.approx


def sgd(rate=0.1, **options):
    return lambda: keras.optimizers.SGD(rate, **options)


@pytest.mark.parametrize(
    "spec", ["one_device-1", "mirrored-2", "mirrored-3", "mirrored-4", "central_storage-2"]
)
def test_c01_evaluation_gives_the_numpy_values(spec, by_name):
    strategy = by_name(spec)
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(24, 3)).astype("float32"), rng.normal(size=(24, 1)).astype("float32")
    kernel = np.array([[1.0], [-2.0], [0.5]], "float32")
    with strategy.scope():
        inputs = keras.Input((3,))
        model = keras.Model(inputs, keras.layers.Dense(1, use_bias=False)(inputs))
        model.compile(loss="mse", metrics=["mae", "mse", keras.metrics.RootMeanSquaredError()])
    model.set_weights([kernel])
    error = x.astype("float64") @ kernel - y
    squares = (error**2).mean()
    expected = [squares, np.abs(error).mean(), squares, np.sqrt(squares)]

    values = model.evaluate(x, y, batch_size=12, verbose=0)
    np.testing.assert_allclose(values, expected, rtol=1e-6)

    dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(12)
    per_example = keras.losses.MeanSquaredError(reduction=None)
    with strategy.scope():
        mean = keras.metrics.Mean()

    def replica_step(x, y):
        mean.update_state(per_example(y, model(x)))

    for batch in strategy.experimental_distribute_dataset(dataset):
        strategy.run(replica_step, args=batch)
    assert float(mean.result()) == near(squares, rel=1e-6)


@routes
def test_c02_one_step(route, strategy):
    assert route(strategy, sgd(), [1, 2, 3, 4], [2, 4, 6, 8]) == near(3.0, rel=1e-6)


@routes
@pytest.mark.parametrize(("x", "expected"), [([1, 2, 3], 1.866667), ([2], 1.6)])
def test_c03_uneven_and_empty_shares(route, x, expected, strategy):
    assert route(strategy, sgd(), x, [2 * v for v in x]) == near(expected, rel=1e-6)


@routes
def test_c04_a_penalty_counts_once(route, strategy):
    penalty = keras.regularizers.L2(0.01)
    moved = route(strategy, sgd(1.0), [0] * 4, [0] * 4, start=3.0, kernel_regularizer=penalty)
    assert moved == near(2.94, rel=1e-6)


@routes
def test_c05_aggregate_then_clip(route, two_replicas):
    assert route(two_replicas, sgd(1.0, clipnorm=1.0), [1, 1], [3, -1]) == near(1.0, rel=1e-6)


class SeenExamples(keras.metrics.Metric):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.seen = self.add_variable((), "zeros", dtype="int32", name="seen")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.seen.assign_add(tf.shape(y_true)[0])

    def result(self):
        return tf.convert_to_tensor(self.seen.value)


def test_c06_counted_examples(strategy):
    with strategy.scope():
        inputs = keras.Input((1,))
        model = keras.Model(inputs, keras.layers.Dense(1)(inputs))
        metric = SeenExamples(name="seen")
        model.compile("sgd", "mse", metrics=[metric])
    history = model.fit(np.ones((120, 1)), np.ones((120, 1)), batch_size=12, verbose=0)
    assert history.history["seen"] == [120]
    assert metric.result().dtype == tf.int32
    assert [int(metric.result()) for _ in range(2)] == [120, 120]


def test_c06_counted_examples_in_a_loop(strategy):
    with strategy.scope():
        metric = SeenExamples(name="seen")
    dataset = tf.data.Dataset.from_tensor_slices(np.ones((120, 1))).batch(12)

    @tf.function
    def step(x):
        strategy.run(lambda x: metric.update_state(x, x), args=(x,))

    for x in strategy.experimental_distribute_dataset(dataset):
        step(x)
    assert [int(metric.result()) for _ in range(2)] == [120, 120]
    assert metric.result().dtype == tf.int32


def test_c08_dropout(two_replicas):
    rows = np.ones((2, 32), "float32")

    def train():
        with two_replicas.scope():
            keras.utils.set_random_seed(7)
            model = keras.Sequential(
                [keras.Input((32,)), keras.layers.Dense(32), keras.layers.Dropout(0.5)]
            )
            model.compile("sgd", "mse")
        model.fit(rows, rows, batch_size=2, epochs=2, shuffle=False, verbose=0)
        return model

    model = train()
    for first, second in zip(model.get_weights(), train().get_weights(), strict=True):
        np.testing.assert_array_equal(first, second)
    dropout = model.layers[-1]
    values = two_replicas.run(lambda: dropout(tf.ones([1, 32]), training=True)).values
    assert not np.array_equal(*values)


def test_c09_embedding_gradients(strategy):
    signature = (tf.TensorSpec([None], tf.int32), tf.TensorSpec([None, 1]))

    def generate():
        # New arrays every time: TensorFlow takes over their memory, and may write to it.
        yield np.array([1, 1, 2, 3], "int32"), np.ones((4, 1), "float32")

    dataset = tf.data.Dataset.from_generator(generate, output_signature=signature)
    kinds = []

    class Watching(keras.optimizers.SGD):
        def update_step(self, gradient, variable, learning_rate):
            kinds.append(type(gradient))
            super().update_step(gradient, variable, learning_rate)

    def table():
        with strategy.scope():
            inputs = keras.Input((), dtype="int32")
            layer = keras.layers.Embedding(4, 1, embeddings_initializer="zeros")
            model = keras.Model(inputs, layer(inputs))
            model.compile(Watching(1.0), "mse")
        return model

    by_fit = table()
    by_fit.fit(dataset, steps_per_epoch=1, shuffle=False, verbose=0)

    by_loop = table()
    loss_fn = keras.losses.MeanSquaredError()

    def replica_step(ids, targets):
        with tf.GradientTape() as tape:
            loss = loss_fn(targets, by_loop(ids))
        gradients = tape.gradient(loss, by_loop.trainable_variables)
        by_loop.optimizer.apply(gradients, by_loop.trainable_variables)

    step = tf.function(lambda batch: strategy.run(replica_step, args=batch))
    for distributed in strategy.experimental_distribute_dataset(dataset):
        step(distributed)

    for model in (by_fit, by_loop):
        np.testing.assert_allclose(model.get_weights()[0].ravel(), [0, 1, 0.5, 0.5], rtol=1e-6)
    assert set(kinds) == {tf.IndexedSlices}


@routes
@pytest.mark.parametrize("batches", [1, 2])
def test_c11_accumulated_gradients(route, batches, strategy):
    x = [1, 2, 3, 4][: 2 * batches]
    optimizer = sgd(0.1, gradient_accumulation_steps=2)
    moved = route(strategy, optimizer, x, [2 * v for v in x], batch_size=2)
    assert moved == near([0.0, 3.0][batches - 1], abs=1e-6)
