"""A dataset built by a function, for when each process should read only its part of the data."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf

import tfdist
from examples.custom_loops.command import run_from_command_line
from examples.custom_loops.network import small_network
from examples.data import digits

GLOBAL_BATCH_SIZE = 96
SEED = 1


class Found(NamedTuple):
    """Mean training loss of each epoch, and how the batches were shared out."""

    epoch_losses: list[float]
    batch_size_per_replica: int
    examples_seen: int


def main(strategy_spec: str, epochs: int = 3) -> Found:
    """Trains on a dataset that a function builds from its ``InputContext``."""
    keras.utils.set_random_seed(SEED)
    strategy = tfdist.strategy(strategy_spec)
    data = digits()

    def dataset_fn(context: tf.distribute.InputContext) -> tf.data.Dataset:
        # Called once an input pipeline: once a process. Batches are those of ONE replica here.
        indices = tf.range(len(data.train_images))
        dataset = tf.data.Dataset.from_tensor_slices(
            (indices, data.train_images, data.train_labels)
        )
        dataset = dataset.shard(context.num_input_pipelines, context.input_pipeline_id)
        dataset = dataset.shuffle(len(data.train_images), seed=SEED)
        return dataset.batch(context.get_per_replica_batch_size(GLOBAL_BATCH_SIZE))

    distributed = strategy.distribute_datasets_from_function(dataset_fn)
    with strategy.scope():
        model = small_network()
        optimizer = keras.optimizers.Adam(3e-3)
        optimizer.build(model.trainable_variables)
    loss_of_each = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")

    def replica_step(indices: tf.Tensor, images: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        del indices
        with tf.GradientTape() as tape:
            losses = loss_of_each(labels, model(images, training=True))
            loss = tf.nn.compute_average_loss(losses, global_batch_size=GLOBAL_BATCH_SIZE)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    @tf.function
    def train_step(batch: Any) -> tf.Tensor:
        replica_losses = strategy.run(replica_step, args=batch)
        return strategy.reduce(tf.distribute.ReduceOp.SUM, replica_losses, axis=None)

    losses = []
    seen: Counter[int] = Counter()
    largest_share = 0
    for _ in range(epochs):
        total = 0.0
        seen.clear()
        for batch in distributed:
            total += float(train_step(batch))
            shares = strategy.experimental_local_results(batch[0])
            largest_share = max(largest_share, *(len(share) for share in shares))
            seen.update(np.concatenate([share.numpy() for share in shares]).tolist())
        losses.append(total * GLOBAL_BATCH_SIZE / len(data.train_images))

    assert losses[-1] < losses[0]
    assert seen == Counter(range(len(data.train_images))), "an example was lost or repeated"
    assert largest_share == GLOBAL_BATCH_SIZE // strategy.num_replicas_in_sync
    return Found(losses, largest_share, seen.total())


if __name__ == "__main__":
    run_from_command_line(main)
