"""Small models, and runs of them with and without a strategy."""

import contextlib
import functools
from collections.abc import Callable

import keras
import numpy as np

ROWS = 10
BATCH = 4  # 10 rows in batches of 4: the last one leaves two of four replicas without rows.

_rng = np.random.default_rng(0)
X = _rng.normal(size=(ROWS, 3)).astype("float32")
Y = _rng.normal(size=(ROWS, 2)).astype("float32")
WEIGHTS = np.arange(ROWS, dtype="float32")


def scope(strategy):
    return contextlib.nullcontext() if strategy is None else strategy.scope()


def in_scope(build: Callable[[], keras.Model], strategy) -> keras.Model:
    """Builds a model under a strategy, from the same seed every time."""
    with scope(strategy):
        keras.utils.set_random_seed(1)
        model = build()
        if strategy is None and model.optimizer is not None:
            model.optimizer.build(model.trainable_variables)
    return model


def dense(optimizer="sgd", loss="mse", metrics=("mae",), regularizer=None, **compile_options):
    """A builder of a model with one layer."""

    def build() -> keras.Model:
        inputs = keras.Input((3,))
        outputs = keras.layers.Dense(2, kernel_regularizer=regularizer, name="dense")(inputs)
        return compiled(keras.Model(inputs, outputs), optimizer, loss, metrics, **compile_options)

    return build


def compiled(model, optimizer="sgd", loss="mse", metrics=("mae",), **options) -> keras.Model:
    model.compile(
        optimizer() if callable(optimizer) else optimizer,
        loss=loss() if isinstance(loss, functools.partial) else loss,
        metrics=[m() if isinstance(m, type) else m for m in metrics] if metrics else None,
        **options,
    )
    return model


def weights(model: keras.Model) -> np.ndarray:
    return np.concatenate([np.ravel(w) for w in model.get_weights()] or [np.zeros(0)])


def fit(model: keras.Model, x=X, y=Y, epochs=2, batch_size=BATCH, **options) -> dict:
    """The history and the weights after training on rows in their order."""
    history = model.fit(
        x, y, epochs=epochs, batch_size=batch_size, shuffle=False, verbose=0, **options
    )
    return {**history.history, "weights": weights(model)}


def assert_same(actual, expected, rtol=2e-5, atol=2e-6):
    assert actual.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(actual[name], value, rtol=rtol, atol=atol, err_msg=name)


def assert_same_numbers(run: Callable, strategy, **tolerance):
    """``run(strategy)`` gives the numbers of ``run(None)``: of plain Keras on one device."""
    assert_same(run(strategy), run(None), **tolerance)
