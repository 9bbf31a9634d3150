"""Case C24: weights, slots and the step count move between numbers of replicas."""

import keras
import numpy as np
import pytest
import tensorflow as tf

RNG = np.random.default_rng(2)
X = RNG.normal(size=(16, 3)).astype("float32")
Y = RNG.normal(size=(16, 1)).astype("float32")


def build(strategy):
    with strategy.scope():
        inputs = keras.Input((3,))
        model = keras.Model(inputs, keras.layers.Dense(1)(inputs))
        model.compile(keras.optimizers.Adam(0.1), "mse")
        model.optimizer.build(model.trainable_variables)
    return model


def train(model, first, last):
    rows = slice(4 * first, 4 * last)
    model.fit(X[rows], Y[rows], batch_size=4, shuffle=False, verbose=0)


def state(model):
    return [np.asarray(v) for v in [*model.weights, *model.optimizer.variables]]


def as_weights(model, path):
    model.save_weights(path / "saved.weights.h5")
    return lambda other: other.load_weights(path / "saved.weights.h5")


def as_checkpoint(model, path):
    saved = tf.train.Checkpoint(model=model, optimizer=model.optimizer).save(path / "saved")

    def restore(other):
        checkpoint = tf.train.Checkpoint(model=other, optimizer=other.optimizer)
        checkpoint.restore(saved).assert_existing_objects_matched()

    return restore


@pytest.mark.parametrize("save", [as_weights, as_checkpoint])
def test_c24_restore_on_other_numbers_of_replicas(save, by_name, tmp_path):
    model = build(by_name("mirrored-2"))
    train(model, 0, 3)
    restore = save(model, tmp_path)
    third = state(model)
    train(model, 3, 4)
    fourth = state(model)
    assert int(model.optimizer.iterations) == 4

    for spec in ("mirrored-1", "mirrored-4", "one_device-1", "central_storage-2"):
        other = build(by_name(spec))
        restore(other)
        for ours, theirs in zip(state(other), third, strict=True):
            np.testing.assert_array_equal(ours, theirs)
        train(other, 3, 4)
        for ours, theirs in zip(state(other), fourth, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-7)


def test_c24_restore_a_saved_model_file(by_name, tmp_path):
    model = build(by_name("mirrored-2"))
    train(model, 0, 3)
    model.save(tmp_path / "saved.keras")
    third = state(model)
    for spec in ("mirrored-4", "central_storage-2"):
        with by_name(spec).scope():
            other = keras.models.load_model(tmp_path / "saved.keras")
        for ours, theirs in zip(state(other), third, strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("save", [as_weights, as_checkpoint])
def test_c24_restore_between_accumulation_and_update(save, by_name, tmp_path):
    def build_accumulating(strategy):
        with strategy.scope():
            inputs = keras.Input((3,))
            model = keras.Model(inputs, keras.layers.Dense(1, kernel_initializer="zeros")(inputs))
            model.compile(keras.optimizers.SGD(0.1, gradient_accumulation_steps=2), "mse")
            model.optimizer.build(model.trainable_variables)
        return model

    model = build_accumulating(by_name("mirrored-2"))
    train(model, 0, 1)
    restore = save(model, tmp_path)
    train(model, 1, 2)
    for spec in ("mirrored-4", "one_device-1", "central_storage-2"):
        other = build_accumulating(by_name(spec))
        restore(other)
        train(other, 1, 2)
        for ours, theirs in zip(other.get_weights(), model.get_weights(), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-7)
