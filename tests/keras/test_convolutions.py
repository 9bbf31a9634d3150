"""Convolutions where the last batch leaves replicas without examples."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers
from tests.keras.helpers import ROWS, Y, assert_same_numbers, compiled, fit, in_scope

_rng = np.random.default_rng(3)
LINES = _rng.normal(size=(ROWS, 8, 3)).astype("float32")
IMAGES = _rng.normal(size=(ROWS, 6, 6, 3)).astype("float32")
VOLUMES = _rng.normal(size=(ROWS, 4, 4, 4, 2)).astype("float32")
FILMS = _rng.normal(size=(ROWS, 2, 5, 5, 2)).astype("float32")

STACKS = {
    "conv1d": (LINES, lambda: [layers.Conv1D(4, 3, activation="relu")]),
    "causal": (LINES, lambda: [layers.Conv1D(4, 3, padding="causal")]),
    "conv2d": (IMAGES, lambda: [layers.Conv2D(4, 3, activation="relu"), layers.Conv2D(2, 3)]),
    "conv3d": (VOLUMES, lambda: [layers.Conv3D(3, 2, activation="relu")]),
    "depthwise": (IMAGES, lambda: [layers.DepthwiseConv2D(3, activation="relu")]),
    "separable": (IMAGES, lambda: [layers.SeparableConv2D(4, 3, activation="relu")]),
    "transposed": (IMAGES, lambda: [layers.Conv2DTranspose(4, 3, activation="relu")]),
    "convlstm": (FILMS, lambda: [layers.ConvLSTM2D(2, 3)]),
}


def model_of(x, make):
    def build():
        stack = [keras.Input(x.shape[1:]), *make(), layers.Flatten(), layers.Dense(2)]
        return compiled(keras.Sequential(stack))

    return build


@pytest.mark.parametrize("name", STACKS)
def test_replicas_without_examples_change_nothing(name, spread):
    x, make = STACKS[name]

    def run(strategy):
        model = in_scope(model_of(x, make), strategy)
        found = fit(model, x, Y, epochs=1)
        return {**found, "predicted": model.predict(x, batch_size=4, verbose=0)}

    assert_same_numbers(run, spread, rtol=1e-4, atol=1e-5)


def test_batches_smaller_than_the_replica_count(spread):
    x, make = STACKS["conv2d"]
    build = model_of(x, make)

    def run(strategy):
        return fit(in_scope(build, strategy), x[:3], Y[:3], epochs=2, batch_size=1)

    assert_same_numbers(run, spread, rtol=1e-4, atol=1e-5)


def test_a_loop_by_hand_convolves_an_empty_share(spread):
    with spread.scope():
        layer = layers.Conv2D(4, 3, activation="relu")
        layer.build((None, 6, 6, 3))
    dataset = tf.data.Dataset.from_tensor_slices(IMAGES).batch(ROWS).take(1)
    one_row = tf.data.Dataset.from_tensor_slices(IMAGES[:1]).batch(1)

    @tf.function
    def step(images):
        with tf.GradientTape() as tape:
            outputs = layer(images)
            total = tf.reduce_sum(outputs)
        return outputs, tape.gradient(total, layer.kernel.value)

    for batch in spread.experimental_distribute_dataset(dataset.concatenate(one_row)):
        outputs, gradients = spread.run(step, args=(batch,))
    shapes = [tuple(v.shape) for v in spread.experimental_local_results(outputs)]
    assert shapes == [(1, 4, 4, 4)] + [(0, 4, 4, 4)] * (spread.num_replicas_in_sync - 1)
    for gradient in spread.experimental_local_results(gradients)[1:]:
        np.testing.assert_array_equal(gradient, np.zeros((3, 3, 3, 4)))
