"""Softmax regression with nothing but ``tf.Module`` and ``tf.Variable``: no Keras.

What Keras decides for its users is spelled out here: how copies of a variable are kept alike
(``aggregation``), which variables have a value of their own on each replica
(``synchronization``), and how results come back (``strategy.reduce``).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

import tfdist
from examples.custom_loops.command import run_from_command_line
from examples.data import digits

GLOBAL_BATCH_SIZE = 100
LEARNING_RATE = 1.0
PIXELS, CLASSES = 64, 10


class Found(NamedTuple):
    """Mean training loss of each epoch, what was counted, and the weights at the end."""

    epoch_losses: list[float]
    examples_seen: int
    test_accuracy: float
    kernel: npt.NDArray[np.float32]


class Softmax(tf.Module):
    """Logits are ``x @ kernel + bias``; plain gradient descent."""

    def __init__(self) -> None:
        super().__init__()
        # SUM: what the replicas assign is added up first, so every copy gets the same update.
        self.kernel = tf.Variable(
            tf.zeros((PIXELS, CLASSES)), aggregation=tf.VariableAggregation.SUM, name="kernel"
        )
        self.bias = tf.Variable(
            tf.zeros(CLASSES), aggregation=tf.VariableAggregation.SUM, name="bias"
        )
        # ON_READ: each replica counts for itself; reading from outside gives the sum.
        self.examples_seen = tf.Variable(
            0,
            dtype=tf.int64,
            trainable=False,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
            name="examples_seen",
        )

    def __call__(self, pixels: tf.Tensor) -> tf.Tensor:
        return pixels @ self.kernel + self.bias

    def train(self, pixels: tf.Tensor, labels: tf.Tensor, batch_size: tf.Tensor) -> tf.Tensor:
        """One replica's part of a step; returns the loss of each of its examples."""
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, self(pixels))
            loss = tf.reduce_sum(losses) / tf.cast(batch_size, tf.float32)
        kernel, bias = tape.gradient(loss, (self.kernel, self.bias))
        self.kernel.assign_sub(LEARNING_RATE * kernel)
        self.bias.assign_sub(LEARNING_RATE * bias)
        self.examples_seen.assign_add(tf.size(labels, out_type=tf.int64))
        return losses

    def correct(self, pixels: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        """1.0 for each example that is recognized, else 0.0."""
        return tf.cast(tf.argmax(self(pixels), axis=1) == labels, tf.float32)


def main(strategy_spec: str, epochs: int = 4) -> Found:
    """Trains softmax regression; the last batch is smaller and does not divide evenly."""
    strategy = tfdist.strategy(strategy_spec)
    data = digits()
    train = _batches(data.train_images, data.train_labels)
    train = strategy.experimental_distribute_dataset(train)
    with strategy.scope():
        model = Softmax()

    @tf.function
    def train_step(pixels: Any, labels: Any) -> tf.Tensor:
        sizes = strategy.run(lambda share: tf.size(share), args=(labels,))
        batch_size = strategy.reduce(tf.distribute.ReduceOp.SUM, sizes, axis=None)
        losses = strategy.run(model.train, args=(pixels, labels, batch_size))
        # With an axis, the replicas' examples are put together first: the mean over all of
        # them, also where shares differ in size.
        return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=0)

    @tf.function
    def test_step(pixels: Any, labels: Any) -> tf.Tensor:
        correct = strategy.run(model.correct, args=(pixels, labels))
        return strategy.reduce(tf.distribute.ReduceOp.MEAN, correct, axis=0)

    losses = []
    for _ in range(epochs):
        total = sum(float(train_step(pixels, labels)) for pixels, labels in train)
        losses.append(total / len(data.train_images))
    test = _batches(data.test_images, data.test_labels, size=len(data.test_images))
    test = strategy.experimental_distribute_dataset(test)
    (accuracy,) = (float(test_step(pixels, labels)) for pixels, labels in test)

    assert losses[-1] < losses[0]
    examples_seen = int(model.examples_seen.numpy())
    assert examples_seen == epochs * len(data.train_images)
    return Found(losses, examples_seen, accuracy, model.kernel.numpy())


def _batches(
    images: npt.NDArray[np.float32],
    labels: npt.NDArray[np.int64],
    size: int = GLOBAL_BATCH_SIZE,
) -> tf.data.Dataset:
    pixels = images.reshape(len(images), PIXELS)
    return tf.data.Dataset.from_tensor_slices((pixels, labels)).batch(size)


if __name__ == "__main__":
    run_from_command_line(main)
