"""Optimizers: what one device does with the global gradient."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import optimizers
from tests.keras.helpers import X, Y, assert_same_numbers, compiled, dense, fit, in_scope

from tfdist.errors import ContextError

STOCK = [
    "SGD", "Adam", "AdamW", "Adamax", "Adagrad", "Adadelta", "RMSprop", "Nadam", "Ftrl", "Lion",
    "Lamb", "Adafactor", "Muon", "ScheduleFreeAdamW",
]  # fmt: skip


@pytest.mark.parametrize("name", STOCK)
def test_stock_optimizers(name, mirrored):
    cls = getattr(optimizers, name, None)
    if cls is None:
        pytest.skip(f"this Keras has no {name}")

    def run(strategy):
        return fit(in_scope(dense(lambda: cls(0.05)), strategy), epochs=2)

    assert_same_numbers(run, mirrored)


OPTIONS = {
    "clipnorm": {"clipnorm": 0.1, "momentum": 0.5},
    "clipvalue": {"clipvalue": 0.05},
    "global_clipnorm": {"global_clipnorm": 0.1},
    "weight_decay": {"weight_decay": 0.1},
    "loss_scale": {"loss_scale_factor": 8.0},
    "ema": {"use_ema": True, "ema_momentum": 0.7, "ema_overwrite_frequency": 3},
    "accumulation": {"gradient_accumulation_steps": 2, "momentum": 0.5},
    "accumulation_clip_ema": {
        "gradient_accumulation_steps": 2,
        "clipnorm": 0.1,
        "use_ema": True,
        "ema_overwrite_frequency": 1,
        "weight_decay": 0.1,
    },
}


@pytest.mark.parametrize("option", OPTIONS)
def test_options(option, spread):
    def run(strategy):
        build = dense(lambda: optimizers.SGD(0.2, **OPTIONS[option]))
        return fit(in_scope(build, strategy), epochs=3)

    assert_same_numbers(run, spread)


def test_constraints_and_schedules(mirrored):
    def build():
        inputs = keras.Input((3,))
        layer = keras.layers.Dense(2, kernel_constraint=keras.constraints.UnitNorm())
        schedule = optimizers.schedules.ExponentialDecay(0.5, 2, 0.5)
        return compiled(keras.Model(inputs, layer(inputs)), lambda: optimizers.Adam(schedule))

    assert_same_numbers(lambda strategy: fit(in_scope(build, strategy)), mirrored)


def scaled(**options):
    return optimizers.LossScaleOptimizer(
        optimizers.Adam(0.05, clipnorm=0.5, gradient_accumulation_steps=2), **options
    )


def state(optimizer):
    return {"scale": float(optimizer.dynamic_scale), "iterations": int(optimizer._iterations)}


def test_loss_scaling_grows(strategy):
    def run(strategy):
        build = dense(lambda: scaled(initial_scale=1024.0, dynamic_growth_steps=2))
        model = in_scope(build, strategy)
        return {**fit(model, epochs=3), **state(model.optimizer)}

    assert_same_numbers(run, strategy)


def test_loss_scaling_skips_steps_that_overflow(strategy):
    def run(strategy):
        model = in_scope(dense(lambda: scaled(initial_scale=3e38)), strategy)
        result = {**fit(model, epochs=2), **state(model.optimizer)}
        return {name: result[name] for name in ("weights", "scale", "iterations")}

    assert run(strategy)["scale"] < 3e38
    assert_same_numbers(run, strategy)


def test_mixed_precision(spread):
    def run(strategy):
        keras.config.set_dtype_policy("mixed_float16")
        try:
            model = in_scope(dense(lambda: optimizers.SGD(0.1)), strategy)
            assert isinstance(model.optimizer, optimizers.LossScaleOptimizer)
            return fit(model)
        finally:
            keras.config.set_dtype_policy("float32")

    assert_same_numbers(run, spread, rtol=5e-3, atol=5e-4)


def test_swap_ema_weights(mirrored):
    def run(strategy):
        model = in_scope(dense(lambda: optimizers.SGD(0.1, use_ema=True)), strategy)
        callback = keras.callbacks.SwapEMAWeights(swap_on_epoch=True)
        result = fit(model, callbacks=[callback], validation_data=(X, Y))
        result["evaluate"] = model.evaluate(X, Y, verbose=0, callbacks=[callback])
        return result

    assert_same_numbers(run, mirrored)


def test_accumulation_in_a_loop_of_the_user(strategy):
    """Toy regression: the gradients -10 and -50 average to -30."""
    with strategy.scope():
        w = keras.Variable([0.0])
        optimizer = optimizers.SGD(0.1, gradient_accumulation_steps=2)
        optimizer.build([w])
        loss_fn = keras.losses.MeanSquaredError()

    def replica_step(x):
        with tf.GradientTape() as tape:
            loss = loss_fn(2 * x, w * x)
        optimizer.apply(tape.gradient(loss, [w.value]), [w])

    @tf.function
    def step(x):
        strategy.run(replica_step, args=(x,))

    seen = []
    dataset = tf.data.Dataset.from_tensor_slices([[1.0], [2.0], [3.0], [4.0]]).batch(2)
    for batch in strategy.experimental_distribute_dataset(dataset):
        step(batch)
        seen.append(float(np.asarray(w)[0]))
    np.testing.assert_allclose(seen, [0.0, 3.0], rtol=1e-6)


def test_variables_stay_equal_on_all_replicas(mirrored):
    model = in_scope(dense(lambda: scaled(dynamic_growth_steps=2)), mirrored)
    fit(model, epochs=3)
    for variable in [*model.variables, *model.optimizer.variables]:
        first, second = (np.asarray(v) for v in variable.value.values)
        np.testing.assert_array_equal(first, second, err_msg=variable.path)


def test_optimizer_from_outside_the_scope(strategy):
    outside = optimizers.SGD(0.1)
    with strategy.scope():
        w = keras.Variable([0.0])

    with pytest.raises(ContextError, match="created under"):
        strategy.run(lambda: outside.apply([tf.constant([1.0])], [w]))
    assert np.asarray(w) == [0.0]
