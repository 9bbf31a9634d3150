"""The network: plain Keras 3, nothing in it knows about devices or strategies."""

from __future__ import annotations

import keras

CLASSES = 10


def build_model(total_steps: int) -> keras.Model:
    """A compiled convolutional network for 8x8 grey images.

    It has neither dropout nor batch normalization. Both depend on how a batch is split, and the
    demo is there to show that the split itself changes nothing.

    Args:
        total_steps: Training steps in the whole run; the learning rate falls to zero over them.
    """
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.Conv2D(64, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(64, 3, padding="same", activation="relu"),
            layers.Flatten(),
            layers.Dense(64, activation="relu"),
            layers.Dense(CLASSES),
        ]
    )
    model.compile(
        optimizer=keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(2e-3, total_steps)),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return model
