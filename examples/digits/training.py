"""One training run under one strategy, with what it measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import keras
import tensorflow as tf

from examples.data import Digits
from examples.digits.model import build_model
from examples.digits.timing import Stopwatch

TEST_BATCH_SIZE = 512


class Settings(NamedTuple):
    """What both runs share. ``batch_size`` is global: the replicas divide it among them."""

    epochs: int
    batch_size: int
    seed: int


class Run(NamedTuple):
    """One run: its curves (one value an epoch) and its speed."""

    title: str
    device_count: int
    loss: list[float]
    test_loss: list[float]
    test_accuracy: list[float]
    examples_per_s: float
    first_step_s: float


def train(
    title: str,
    strategy: tf.distribute.Strategy,
    data: Digits,
    settings: Settings,
    callbacks: Sequence[keras.callbacks.Callback] = (),
) -> Run:
    """Trains the network under ``strategy`` and evaluates it after each epoch.

    Args:
        title: How tables and plots call the run.
        strategy: Where the model lives and how it is trained.
        data: Training and test images.
        settings: Epochs, global batch size, and the seed of the weights and of the order.
        callbacks: More Keras callbacks, to show progress for instance.
    """
    keras.utils.set_random_seed(settings.seed)
    steps_per_epoch = math.ceil(len(data.train_images) / settings.batch_size)
    with strategy.scope():
        model = build_model(settings.epochs * steps_per_epoch)

    watch = Stopwatch(len(data.train_images), settings.batch_size)
    history = model.fit(
        _training_batches(data, settings),
        validation_data=_test_batches(data),
        epochs=settings.epochs,
        callbacks=[watch, *callbacks],
        shuffle=False,  # the dataset does it
        verbose=0,
    ).history
    return Run(
        title=title,
        device_count=strategy.num_replicas_in_sync,
        loss=history["loss"],
        test_loss=history["val_loss"],
        test_accuracy=history["val_accuracy"],
        examples_per_s=watch.examples_per_s,
        first_step_s=watch.first_step_s,
    )


def _training_batches(data: Digits, settings: Settings) -> tf.data.Dataset:
    dataset = tf.data.Dataset.from_tensor_slices((data.train_images, data.train_labels))
    dataset = dataset.shuffle(len(data.train_images), seed=settings.seed)
    dataset = dataset.map(_moved_by_a_pixel)
    return dataset.batch(settings.batch_size).prefetch(tf.data.AUTOTUNE)


def _moved_by_a_pixel(image: tf.Tensor, label: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """The image moved by up to one pixel each way: 1,437 images are few."""
    padded = tf.pad(image, [[1, 1], [1, 1], [0, 0]])
    return tf.image.random_crop(padded, image.shape, seed=1), label


def _test_batches(data: Digits) -> tf.data.Dataset:
    dataset = tf.data.Dataset.from_tensor_slices((data.test_images, data.test_labels))
    return dataset.batch(TEST_BATCH_SIZE)
