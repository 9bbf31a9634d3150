"""The network that the Keras programs of this folder train."""

from __future__ import annotations

import keras


def small_network() -> keras.Model:
    """A convolutional network from 8x8 grey images to 10 logits, not compiled."""
    layers = keras.layers
    return keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(16, 3, activation="relu"),
            layers.Flatten(),
            layers.Dense(32, activation="relu"),
            layers.Dense(10),
        ]
    )
