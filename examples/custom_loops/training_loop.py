"""A training loop by hand: distributed dataset, own step, metrics, checkpoints."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf

import tfdist
from examples.custom_loops.command import run_from_command_line
from examples.custom_loops.network import small_network
from examples.data import Digits, digits

GLOBAL_BATCH_SIZE = 64
SEED = 1

_loss_of_each_example = keras.losses.SparseCategoricalCrossentropy(
    from_logits=True, reduction="none"
)


class Found(NamedTuple):
    """Mean training loss of each epoch, and the test accuracy before and after restoring."""

    epoch_losses: list[float]
    test_accuracy: float
    restored_accuracy: float
    restored_steps: int


class Trainer:
    """Model, optimizer and metrics under one strategy, and the steps that use them."""

    def __init__(self, strategy: tf.distribute.Strategy) -> None:
        self.strategy = strategy
        # Whatever has variables is made in the scope: each of them then has a copy a device.
        with strategy.scope():
            self.model = small_network()
            self.optimizer = keras.optimizers.Adam(3e-3)
            self.optimizer.build(self.model.trainable_variables)
            self.test_accuracy = keras.metrics.SparseCategoricalAccuracy()
            self.checkpoint = tf.train.Checkpoint(model=self.model, optimizer=self.optimizer)

    @tf.function
    def train_step(self, batch: Any) -> tf.Tensor:
        """One step on all replicas; returns the loss of the whole global batch."""
        replica_losses = self.strategy.run(self._train_replica, args=(batch,))
        # Each replica has divided by the global batch size, so the parts add up.
        return self.strategy.reduce(tf.distribute.ReduceOp.SUM, replica_losses, axis=None)

    @tf.function
    def test_step(self, batch: Any) -> None:
        """Updates the test metric on all replicas."""
        self.strategy.run(self._test_replica, args=(batch,))

    def _train_replica(self, batch: tuple[tf.Tensor, tf.Tensor]) -> tf.Tensor:
        images, labels = batch
        with tf.GradientTape() as tape:
            losses = _loss_of_each_example(labels, self.model(images, training=True))
            # Not the mean of this replica's share: shares differ in size in the last batch.
            loss = tf.nn.compute_average_loss(losses, global_batch_size=GLOBAL_BATCH_SIZE)
        gradients = tape.gradient(loss, self.model.trainable_variables)
        # The optimizer adds the gradients of all replicas up before it applies them.
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables, strict=True))
        return loss

    def _test_replica(self, batch: tuple[tf.Tensor, tf.Tensor]) -> None:
        images, labels = batch
        self.test_accuracy.update_state(labels, self.model(images, training=False))

    def train_epoch(self, dataset: Any, example_count: int) -> float:
        """Trains on every batch once; returns the mean loss over the examples."""
        total = sum(float(self.train_step(batch)) for batch in dataset)
        return total * GLOBAL_BATCH_SIZE / example_count

    def evaluate(self, dataset: Any) -> float:
        """The accuracy over all examples of ``dataset``."""
        self.test_accuracy.reset_state()
        for batch in dataset:
            self.test_step(batch)
        return float(self.test_accuracy.result())


def main(strategy_spec: str, epochs: int = 3) -> Found:
    """Trains by hand, saves a checkpoint, restores it in and out of the strategy."""
    keras.utils.set_random_seed(SEED)
    strategy = tfdist.strategy(strategy_spec)
    data = digits()
    train, test = _batches(data)
    # Each batch is cut into one share a replica; nothing is lost or repeated.
    train = strategy.experimental_distribute_dataset(train)
    test = strategy.experimental_distribute_dataset(test)

    trainer = Trainer(strategy)
    losses = [trainer.train_epoch(train, len(data.train_images)) for _ in range(epochs)]
    accuracy = trainer.evaluate(test)
    with tempfile.TemporaryDirectory() as folder:
        path = trainer.checkpoint.write(str(Path(folder) / "digits"))
        restored = Trainer(strategy)
        restored.checkpoint.read(path).assert_consumed()
        _check_restored_without_strategy(path, trainer.model)
    restored_accuracy = restored.evaluate(test)

    assert losses[-1] < losses[0]
    assert restored_accuracy == accuracy
    return Found(losses, accuracy, restored_accuracy, int(restored.optimizer.iterations.numpy()))


def _batches(data: Digits) -> tuple[tf.data.Dataset, tf.data.Dataset]:
    train = tf.data.Dataset.from_tensor_slices((data.train_images, data.train_labels))
    test = tf.data.Dataset.from_tensor_slices((data.test_images, data.test_labels))
    shuffled = train.shuffle(len(data.train_images), seed=SEED)
    return shuffled.batch(GLOBAL_BATCH_SIZE), test.batch(GLOBAL_BATCH_SIZE)


def _check_restored_without_strategy(path: str, trained: keras.Model) -> None:
    """The checkpoint holds plain values: any program can read it, with any strategy or none."""
    plain = small_network()
    tf.train.Checkpoint(model=plain).read(path).expect_partial()  # the optimizer is left out
    for restored, expected in zip(plain.get_weights(), trained.get_weights(), strict=True):
        np.testing.assert_array_equal(restored, expected)


if __name__ == "__main__":
    run_from_command_line(main)
