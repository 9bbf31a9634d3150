"""Layers with randomness or with statistics of the batch."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers
from tests.keras.helpers import X, Y, assert_same, assert_same_numbers, compiled, fit, in_scope


def model_of(*stack, **options):
    def build():
        inputs = keras.Input((3,))
        outputs = inputs
        for make in (*stack, lambda: layers.Dense(2)):
            outputs = make()(outputs)
        return compiled(keras.Model(inputs, outputs), **options)

    return build


RANDOM = {
    "dropout": lambda: layers.Dropout(0.4, seed=1),
    "gaussian_dropout": lambda: layers.GaussianDropout(0.4, seed=1),
    "gaussian_noise": lambda: layers.GaussianNoise(0.4, seed=1),
    "alpha_dropout": lambda: layers.AlphaDropout(0.4, seed=1),
    "unseeded": lambda: layers.Dropout(0.4),
}


@pytest.mark.parametrize("name", RANDOM)
def test_masks_do_not_depend_on_the_replicas(name, spread):
    build = model_of(lambda: layers.Dense(5), RANDOM[name])
    assert_same_numbers(lambda strategy: fit(in_scope(build, strategy)), spread)


def test_masks_differ_between_replicas_and_repeat_with_the_seed(strategy):
    same_rows = np.repeat(X[:1], 4, axis=0)

    def run():
        model = in_scope(model_of(RANDOM["dropout"]), strategy)
        return fit(model, same_rows, np.repeat(Y[:1], 4, axis=0))

    first, second = run(), run()
    np.testing.assert_array_equal(first["weights"], second["weights"])

    with strategy.scope():
        layer = layers.Dropout(0.5, seed=3)
    masks = strategy.experimental_local_results(
        strategy.run(lambda: layer(tf.ones([64]), training=True))
    )
    assert len(masks) == strategy.num_replicas_in_sync
    assert any(not np.array_equal(masks[0], mask) for mask in masks[1:])


def test_synchronized_batch_normalization(strategy):
    build = model_of(lambda: layers.Dense(4), lambda: layers.BatchNormalization(synchronized=True))
    assert_same_numbers(lambda strategy: fit(in_scope(build, strategy)), strategy, rtol=1e-4)


def test_batch_normalization_averages_its_statistics(mirrored):
    def build():
        inputs = keras.Input((3,))
        return compiled(keras.Model(inputs, layers.BatchNormalization(momentum=0.5)(inputs)))

    model = in_scope(build, mirrored)
    rows = X[:3]  # Two for the first replica, one for the second.
    fit(model, rows, rows, epochs=1)
    mean = 0.5 * rows.mean(axis=0)
    variance = 0.5 + 0.5 * (rows[:2].var(axis=0) * 2 / 3)
    _, _, moving_mean, moving_variance = model.get_weights()
    np.testing.assert_allclose(moving_mean, mean, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(moving_variance, variance, rtol=1e-5)
    for variable in model.variables:
        np.testing.assert_array_equal(*variable.value.values)


def test_batch_normalization_without_rows_on_a_replica(strategy):
    build = model_of(layers.BatchNormalization, layers.BatchNormalization)
    result = fit(in_scope(build, strategy), X[:5], Y[:5])
    assert all(np.isfinite(value).all() for value in result.values())


def test_batch_normalization_with_one_share_for_all_replicas(strategy):
    """Statistics of equal shares are those of the whole batch."""
    rows = np.repeat(X[:1], 8, axis=0) * np.tile([[1.0], [2.0]], (4, 1)).astype("float32")

    def run(strategy):
        build = model_of(layers.BatchNormalization)
        return fit(in_scope(build, strategy), rows, np.ones((8, 2)), batch_size=8)

    assert_same(run(strategy), run(None), rtol=1e-4)


def test_embedding_gradients_stay_sparse(strategy):
    seen = []

    class Watching(keras.optimizers.SGD):
        def update_step(self, gradient, variable, learning_rate):
            seen.append(type(gradient))
            super().update_step(gradient, variable, learning_rate)

    def build():
        inputs = keras.Input((), dtype="int32")
        return compiled(keras.Model(inputs, layers.Embedding(4, 1)(inputs)), lambda: Watching(1.0))

    def run(strategy):
        return fit(in_scope(build, strategy), np.array([1, 1, 2, 3, 0]), np.ones((5, 1)))

    assert_same_numbers(run, strategy)
    assert set(seen) == {tf.IndexedSlices}


def test_layers_that_need_no_training_argument(mirrored):
    build = model_of(
        lambda: layers.Reshape((3, 1)),
        lambda: layers.LSTM(2),
        lambda: layers.LayerNormalization(),
    )
    assert_same_numbers(lambda strategy: fit(in_scope(build, strategy)), mirrored)
