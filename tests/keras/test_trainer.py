"""fit, evaluate, predict and their functions for one batch."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from tests.keras.helpers import (
    BATCH,
    X,
    Y,
    assert_same,
    assert_same_numbers,
    compiled,
    dense,
    fit,
    in_scope,
    scope,
)

from tfdist.errors import ContextError


def test_arrays(any_strategy):
    def run(strategy):
        model = in_scope(dense(), strategy)
        result = fit(model, validation_data=(X, Y), validation_batch_size=3)
        result["evaluate"] = model.evaluate(X, Y, batch_size=7, verbose=0)
        result["predict"] = model.predict(X, batch_size=7, verbose=0)
        return result

    assert_same_numbers(run, any_strategy)


@pytest.mark.parametrize("run_eagerly", [False, True])
def test_datasets(run_eagerly, strategy):
    dataset = tf.data.Dataset.from_tensor_slices((X, Y)).batch(BATCH)

    def run(strategy):
        model = in_scope(dense(run_eagerly=run_eagerly), strategy)
        history = model.fit(dataset, epochs=2, shuffle=False, verbose=0)
        evaluation = model.evaluate(dataset, verbose=0)
        return {
            **history.history,
            "weights": np.concatenate([w.ravel() for w in model.get_weights()]),
            "evaluate": evaluation,
            "predict": model.predict(dataset, verbose=0),
        }

    assert_same_numbers(run, strategy)


def test_steps_per_execution(strategy):
    def run(strategy):
        model = in_scope(dense(steps_per_execution=2), strategy)
        result = fit(model)
        result["predict"] = model.predict(X, batch_size=3, verbose=0)
        result["evaluate"] = model.evaluate(X, Y, batch_size=3, verbose=0)
        return result

    assert_same_numbers(run, strategy)


def test_steps_per_epoch_of_an_endless_dataset(mirrored):
    dataset = tf.data.Dataset.from_tensor_slices((X, Y)).batch(BATCH).repeat()

    def run(strategy):
        model = in_scope(dense(), strategy)
        return model.fit(dataset, epochs=2, steps_per_epoch=4, shuffle=False, verbose=0).history

    assert_same_numbers(run, mirrored)


@pytest.mark.parametrize("rows", [1, 3])
def test_a_first_batch_that_is_smaller_than_the_replicas(rows, strategy):
    def run(strategy):
        return fit(in_scope(dense(), strategy), X[:rows], Y[:rows])

    assert_same_numbers(run, strategy)


def test_functions_for_one_batch(strategy):
    def run(strategy):
        model = in_scope(dense(), strategy)
        return {
            "train": [model.train_on_batch(X[:5], Y[:5]) for _ in range(3)],
            "test": model.test_on_batch(X[:3], Y[:3]),
            "predict": model.predict_on_batch(X[:5]),
        }

    assert_same_numbers(run, strategy)


def test_model_that_is_built_by_the_first_batch(mirrored):
    def run(strategy):
        with scope(strategy):
            keras.utils.set_random_seed(1)
            model = compiled(keras.Sequential([keras.layers.Dense(2)]))
        return fit(model)

    assert_same_numbers(run, mirrored)


def test_strings(mirrored):
    words = np.array([["b"], ["a"], ["b"]], dtype=object)

    def build():
        inputs = keras.Input((1,), dtype="string")
        ids = keras.layers.StringLookup(vocabulary=["a", "b"], output_mode="one_hot")(inputs)
        return compiled(keras.Model(inputs, keras.layers.Dense(1)(ids)))

    def run(strategy):
        model = in_scope(build, strategy)
        dataset = tf.data.Dataset.from_tensor_slices((words.astype(str), Y[:3, :1])).batch(3)
        return model.fit(dataset, epochs=2, shuffle=False, verbose=0).history

    assert_same_numbers(run, mirrored)


def test_predict_of_other_outputs(strategy):
    """A dictionary, and one number a batch: the mean over the batch, once."""

    def build():
        inputs = keras.Input((3,))
        return compiled(
            keras.Model(inputs, {"rows": inputs, "mean": keras.ops.mean(inputs)}), metrics=None
        )

    def run(strategy):
        return in_scope(build, strategy).predict(X, batch_size=BATCH, verbose=0)

    assert run(strategy)["mean"].shape == (3,)
    assert_same_numbers(run, strategy)


def test_compile_outside_the_scope(mirrored):
    with mirrored.scope():
        keras.utils.set_random_seed(1)
        inputs = keras.Input((3,))
        model = keras.Model(inputs, keras.layers.Dense(2)(inputs))
    model.compile("sgd", "mse", metrics=["mae"])
    assert_same(fit(model), fit(in_scope(dense(), None)))


def test_objects_from_outside_the_scope(mirrored):
    model = in_scope(dense(), None)
    with mirrored.scope(), pytest.raises(ContextError, match="outside the scope"):
        fit(model)

    optimizer = keras.optimizers.SGD()
    model = in_scope(dense(), mirrored)
    before = model.get_weights()
    model.compile(optimizer, "mse")
    for use in (lambda: fit(model), lambda: model.train_on_batch(X, Y)):
        with pytest.raises(ContextError, match="optimizer was created outside the scope"):
            use()
    for old, new in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)


def test_plain_keras_beside_a_strategy(mirrored):
    """What Keras does without a strategy stays as it was."""
    with_strategy = fit(in_scope(dense(), mirrored))
    assert_same(fit(in_scope(dense(), None)), with_strategy)
    loss = keras.losses.MeanSquaredError()(Y, X[:, :2])
    np.testing.assert_allclose(loss, ((Y - X[:, :2]) ** 2).mean(), rtol=1e-6)
