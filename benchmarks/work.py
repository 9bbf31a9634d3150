"""What is timed, in one process for one contestant: ``python -m benchmarks.work tfdist 4 100``.

Prints one line of JSON: the quantities by name.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from benchmarks.contestants import mirrored
from tfdist.testing import cpu_device_names, set_virtual_cpu_devices

GLOBAL_BATCH_SIZE = 256
FEATURES, CLASSES = 64, 10
WARM_UP_STEPS = 5


def main(contestant: str, device_count: int, step_count: int) -> None:
    """Measures ``contestant`` on ``device_count`` virtual CPU devices."""
    set_virtual_cpu_devices(device_count)
    strategy = mirrored(contestant, cpu_device_names(device_count))
    found = {**_training(strategy, step_count), "input": _input_rate(strategy, step_count)}
    sys.stdout.write(json.dumps(found) + "\n")


def _training(strategy: tf.distribute.Strategy, step_count: int) -> dict[str, float]:
    """Seconds to the first loss, the median of the steps after the warm-up, the last loss."""
    keras.utils.set_random_seed(0)
    batch = next(iter(strategy.experimental_distribute_dataset(_dataset(1))))
    started_s = time.perf_counter()
    step = _training_step(strategy)
    float(step(batch))
    first_step_s = time.perf_counter() - started_s
    steps_s = []
    for _ in range(WARM_UP_STEPS + step_count):
        started_s = time.perf_counter()
        loss = float(step(batch))
        steps_s.append(time.perf_counter() - started_s)
    step_s = statistics.median(steps_s[WARM_UP_STEPS:])
    return {"first_step": first_step_s, "step": step_s, "loss": loss}


def _training_step(strategy: tf.distribute.Strategy) -> Any:
    """A ``tf.function`` that trains a small network on one batch and returns its loss."""
    dense = keras.layers.Dense
    with strategy.scope():
        model = keras.Sequential(
            [
                keras.Input((FEATURES,)),
                dense(256, activation="relu"),
                dense(256, activation="relu"),
                dense(CLASSES),
            ]
        )
        optimizer = keras.optimizers.SGD(0.01, momentum=0.9)
        optimizer.build(model.trainable_variables)
    loss_of_each = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")

    def replica_step(features: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            losses = loss_of_each(labels, model(features, training=True))
            loss = tf.nn.compute_average_loss(losses, global_batch_size=GLOBAL_BATCH_SIZE)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    @tf.function
    def step(batch: Any) -> tf.Tensor:
        losses = strategy.run(replica_step, args=batch)
        return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)

    return step


def _input_rate(strategy: tf.distribute.Strategy, batch_count: int) -> float:
    """Rows a second that a loop in Python gets from a distributed dataset."""
    batches = iter(strategy.experimental_distribute_dataset(_dataset(WARM_UP_STEPS + batch_count)))
    for _ in range(WARM_UP_STEPS):
        next(batches)
    started_s = time.perf_counter()
    count = sum(1 for _ in batches)
    return count * GLOBAL_BATCH_SIZE / (time.perf_counter() - started_s)


def _dataset(batch_count: int) -> tf.data.Dataset:
    random = np.random.default_rng(0)
    features = random.standard_normal((GLOBAL_BATCH_SIZE, FEATURES), dtype="float32")
    labels = random.integers(0, CLASSES, GLOBAL_BATCH_SIZE)
    rows = tf.data.Dataset.from_tensor_slices((features, labels))
    return rows.batch(GLOBAL_BATCH_SIZE, drop_remainder=True).cache().repeat(batch_count)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
