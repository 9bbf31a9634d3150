"""Losses, weights, masks and terms of models: as on one device, whatever the shares."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops
from tests.keras.helpers import (
    BATCH,
    WEIGHTS,
    X,
    Y,
    assert_same_numbers,
    compiled,
    dense,
    fit,
    in_scope,
)


@pytest.mark.parametrize("reduction", ["sum_over_batch_size", "sum", "mean_with_sample_weight"])
def test_reductions_with_sample_weights(reduction, spread):
    def run(strategy):
        model = in_scope(dense(loss=keras.losses.MeanSquaredError(reduction=reduction)), strategy)
        return fit(model, sample_weight=WEIGHTS)

    assert_same_numbers(run, spread)


def test_no_reduction(strategy):
    def run(strategy):
        model = in_scope(dense(loss=keras.losses.MeanSquaredError(reduction=None)), strategy)
        return fit(model)

    assert_same_numbers(run, strategy)


def test_class_weights(mirrored):
    labels = (np.arange(10) % 2).astype("float32")

    def run(strategy):
        return fit(in_scope(dense(), strategy), y=labels[:, None], class_weight={0: 1.0, 1: 3.0})

    assert_same_numbers(run, mirrored)


def test_regularizers_activity_and_added_losses(strategy):
    class Square(keras.layers.Layer):
        def call(self, inputs):
            self.add_loss(ops.mean(inputs**2))
            return inputs

    def build():
        inputs = keras.Input((3,))
        hidden = keras.layers.Dense(3, kernel_regularizer="l2", activity_regularizer="l1")(inputs)
        outputs = keras.layers.Dense(2)(Square()(hidden))
        return compiled(keras.Model(inputs, outputs))

    assert_same_numbers(lambda strategy: fit(in_scope(build, strategy)), strategy)


def test_masked_sequences(strategy):
    ids = np.array([[1, 2, 0, 0], [1, 0, 0, 0], [3, 4, 5, 1], [2, 2, 2, 0], [5, 1, 1, 1]])
    targets = np.linspace(0, 1, 20).reshape(5, 4, 1)

    def build():
        inputs = keras.Input((4,))
        embedded = keras.layers.Embedding(6, 3, mask_zero=True)(inputs)
        return compiled(keras.Model(inputs, keras.layers.Dense(1)(embedded)))

    assert_same_numbers(lambda strategy: fit(in_scope(build, strategy), ids, targets), strategy)


def test_several_outputs_with_loss_weights(mirrored):
    def build():
        inputs = keras.Input((3,))
        outputs = {name: keras.layers.Dense(2, name=name)(inputs) for name in "ab"}
        return compiled(
            keras.Model(inputs, outputs),
            loss={"a": "mse", "b": "mae"},
            metrics=None,
            loss_weights={"a": 0.3, "b": 2.0},
        )

    assert_same_numbers(
        lambda strategy: fit(in_scope(build, strategy), y={"a": Y, "b": Y}), mirrored
    )


def test_functions_that_give_one_number(strategy):
    def loss(y_true, y_pred):
        return ops.mean(ops.square(y_true - y_pred))

    def metric(y_true, y_pred):
        return ops.mean(ops.abs(y_true - y_pred))

    assert_same_numbers(
        lambda strategy: fit(in_scope(dense(loss=loss, metrics=[metric]), strategy)), strategy
    )


class OwnLoss(keras.Model):
    """compute_loss as Keras's documentation shows it: a mean and the terms of the layers."""

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        return ops.mean((y_pred - y) ** 2) + ops.sum(self.losses)


class MoreLoss(keras.Model):
    """compute_loss that adds a term to Keras's."""

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        loss = super().compute_loss(x, y, y_pred, sample_weight, training)
        return 0.5 * loss + 0.1 * ops.mean(ops.abs(y_pred))


@pytest.mark.parametrize("cls", [OwnLoss, MoreLoss])
def test_compute_loss_of_the_user(cls, strategy):
    def build():
        inputs = keras.Input((3,))
        return compiled(cls(inputs, keras.layers.Dense(2, kernel_regularizer="l2")(inputs)))

    assert_same_numbers(lambda strategy: fit(in_scope(build, strategy)), strategy)


class OwnStep(keras.Model):
    """train_step as Keras's guides show it, with one of the usual ways to a loss."""

    def __init__(self, *args, way, **kwargs):
        super().__init__(*args, **kwargs)
        self.way = way
        self.loss_tracker = keras.metrics.Mean(name="tracked")
        self.mean = keras.losses.MeanSquaredError()
        self.per_example = keras.losses.MeanSquaredError(reduction=None)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = WAYS[self.way](self, x, y, self(x, training=True))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(gradients, self.trainable_variables)
        self.loss_tracker.update_state(loss)
        return {"returned": loss, "mean": self.loss_tracker.result()}


WAYS = {
    "compute_loss": lambda model, x, y, y_pred: model.compute_loss(x=x, y=y, y_pred=y_pred),
    "object": lambda model, x, y, y_pred: model.mean(y, y_pred),
    "operations": lambda model, x, y, y_pred: ops.mean(ops.square(y - y_pred)),
    "both": lambda model, x, y, y_pred: model.mean(y, y_pred) + ops.mean(ops.abs(y_pred)),
    "scaled": lambda model, x, y, y_pred: tf.nn.compute_average_loss(
        model.per_example(y, y_pred), global_batch_size=BATCH
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_train_step_of_the_user(way, spread):
    """With statistics that replicas share, so that gradients cross between them."""

    def build():
        inputs = keras.Input((3,))
        hidden = keras.layers.BatchNormalization(synchronized=True)(keras.layers.Dense(3)(inputs))
        model = OwnStep(inputs, keras.layers.Dense(2)(hidden), way=way)
        return compiled(model, metrics=None)

    assert_same_numbers(lambda strategy: fit(in_scope(build, strategy)), spread, rtol=1e-4)


def test_in_a_loop_of_the_user_replicas_give_their_parts_of_the_loss(strategy):
    with strategy.scope():
        model = in_scope(dense(), strategy)
        losses = [
            keras.losses.MeanSquaredError(),
            keras.losses.MeanSquaredError(reduction="sum"),
            keras.losses.MeanSquaredError(reduction="mean_with_sample_weight"),
        ]

    def replica_fn(x, y, weight):
        return [loss(y, model(x), weight) for loss in losses]

    dataset = tf.data.Dataset.from_tensor_slices((X, Y, WEIGHTS)).batch(BATCH)
    values = [
        [float(strategy.reduce("SUM", loss, axis=None)) for loss in strategy.run(replica_fn, batch)]
        for batch in strategy.experimental_distribute_dataset(dataset)
    ]
    prediction = np.asarray(X @ model.get_weights()[0] + model.get_weights()[1])
    error = WEIGHTS * ((prediction - Y) ** 2).mean(axis=1)
    for i, (mean, total, weighted) in enumerate(values):
        rows = slice(i * BATCH, (i + 1) * BATCH)
        np.testing.assert_allclose(mean, error[rows].mean(), rtol=1e-5)
        np.testing.assert_allclose(total, error[rows].sum(), rtol=1e-5)
        np.testing.assert_allclose(weighted, error[rows].sum() / WEIGHTS[rows].sum(), rtol=1e-5)
