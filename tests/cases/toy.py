"""The toy regression of the cases, by both routes: Keras's fit, and a loop of the user."""

from collections.abc import Callable

import keras
import numpy as np
import tensorflow as tf


def column(values) -> np.ndarray:
    return np.asarray(values, "float32").reshape(-1, 1)


def linear(strategy, optimizer: Callable[[], keras.optimizers.Optimizer], start=0.0, **options):
    """A model ``w * x`` under a strategy, compiled with a mean squared error."""
    with strategy.scope():
        inputs = keras.Input((1,))
        layer = keras.layers.Dense(
            1, use_bias=False, kernel_initializer=keras.initializers.Constant(start), **options
        )
        model = keras.Model(inputs, layer(inputs))
        model.compile(optimizer(), "mse")
    return model


def weight(model: keras.Model) -> float:
    return float(model.get_weights()[0].squeeze())


def by_fit(strategy, optimizer, x, y, batch_size=None, start=0.0, **options) -> float:
    """The weight after one epoch of ``fit``."""
    model = linear(strategy, optimizer, start, **options)
    model.fit(
        column(x), column(y), batch_size=batch_size or len(x), epochs=1, shuffle=False, verbose=0
    )
    return weight(model)


def by_loop(strategy, optimizer, x, y, batch_size=None, start=0.0, **options) -> float:
    """The weight after one pass of a loop that calls ``strategy.run`` in a ``tf.function``."""
    model = linear(strategy, optimizer, start, **options)
    loss_fn = keras.losses.MeanSquaredError()

    def replica_step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_fn(y, model(x, training=True))
            for term in model.losses:
                loss += term / strategy.num_replicas_in_sync
        gradients = tape.gradient(loss, model.trainable_variables)
        model.optimizer.apply(gradients, model.trainable_variables)

    @tf.function
    def step(batch):
        strategy.run(replica_step, args=batch)

    dataset = tf.data.Dataset.from_tensor_slices((column(x), column(y)))
    dataset = dataset.batch(batch_size or len(x))
    for batch in strategy.experimental_distribute_dataset(dataset):
        step(batch)
    return weight(model)


ROUTES = [by_fit, by_loop]
