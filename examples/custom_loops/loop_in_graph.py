"""The loop over the dataset inside one ``tf.function``: one call from Python an epoch."""

from __future__ import annotations

from typing import Any, NamedTuple

import keras
import tensorflow as tf

import tfdist
from examples.custom_loops.command import run_from_command_line
from examples.custom_loops.network import small_network
from examples.data import digits

GLOBAL_BATCH_SIZE = 64
SEED = 1


class Found(NamedTuple):
    """Mean training loss of each epoch, and what the loop counted."""

    epoch_losses: list[float]
    steps_per_epoch: int
    traces: int


def main(strategy_spec: str, epochs: int = 3) -> Found:
    """Trains with the whole epoch in one graph."""
    keras.utils.set_random_seed(SEED)
    strategy = tfdist.strategy(strategy_spec)
    data = digits()
    dataset = tf.data.Dataset.from_tensor_slices((data.train_images, data.train_labels))
    dataset = dataset.shuffle(len(data.train_images), seed=SEED).batch(GLOBAL_BATCH_SIZE)
    distributed = strategy.experimental_distribute_dataset(dataset)
    with strategy.scope():
        model = small_network()
        optimizer = keras.optimizers.Adam(3e-3)
        optimizer.build(model.trainable_variables)
    loss_of_each = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
    traces = []

    def replica_step(images: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            losses = loss_of_each(labels, model(images, training=True))
            loss = tf.nn.compute_average_loss(losses, global_batch_size=GLOBAL_BATCH_SIZE)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    @tf.function
    def train_epoch(dataset: Any) -> tuple[tf.Tensor, tf.Tensor]:
        traces.append("train_epoch")  # Python runs while tracing only
        total, steps = tf.constant(0.0), tf.constant(0)
        for batch in dataset:
            replica_losses = strategy.run(replica_step, args=batch)
            total += strategy.reduce(tf.distribute.ReduceOp.SUM, replica_losses, axis=None)
            steps += 1
        return total, steps

    losses = []
    steps = 0
    for _ in range(epochs):
        total, step_count = train_epoch(distributed)
        losses.append(float(total) * GLOBAL_BATCH_SIZE / len(data.train_images))
        steps = int(step_count)

    assert losses[-1] < losses[0]
    assert int(optimizer.iterations.numpy()) == steps * epochs
    return Found(losses, steps, len(traces))


if __name__ == "__main__":
    run_from_command_line(main)
