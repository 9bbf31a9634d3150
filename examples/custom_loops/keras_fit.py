"""``fit`` with callbacks: schedule of the learning rate, best weights kept, early stop."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import NamedTuple

import keras
import numpy as np

import tfdist
from examples.custom_loops.command import run_from_command_line
from examples.custom_loops.network import small_network
from examples.data import digits

SEED = 1

_LOSS = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


class Found(NamedTuple):
    """What ``fit`` recorded each epoch, and the test loss of the weights that were kept."""

    epoch_losses: list[float]
    learning_rates: list[float]
    best_test_loss: float
    restored_test_loss: float


def main(strategy_spec: str, epochs: int = 4) -> Found:
    """Trains with ``fit`` and Keras's own callbacks; restores the best weights elsewhere."""
    keras.utils.set_random_seed(SEED)
    strategy = tfdist.strategy(strategy_spec)
    data = digits()
    with strategy.scope():
        model = small_network()
        model.compile(optimizer=keras.optimizers.Adam(), loss=_LOSS)

    with tempfile.TemporaryDirectory() as folder:
        best = Path(folder) / "best.weights.h5"
        history = model.fit(
            data.train_images,
            data.train_labels,
            batch_size=64,  # global, as without a strategy
            epochs=epochs,
            validation_data=(data.test_images, data.test_labels),
            callbacks=[
                keras.callbacks.LearningRateScheduler(lambda epoch: 3e-3 * 0.5**epoch),
                keras.callbacks.ModelCheckpoint(best, save_weights_only=True, save_best_only=True),
                keras.callbacks.EarlyStopping(patience=2),
            ],
            verbose=0,
        ).history
        plain = small_network()  # outside the scope: an ordinary Keras model
        plain.load_weights(best)
    plain.compile(loss=_LOSS)
    restored_loss = plain.evaluate(data.test_images, data.test_labels, verbose=0)

    assert history["loss"][-1] < history["loss"][0]
    np.testing.assert_allclose(restored_loss, min(history["val_loss"]), rtol=1e-4)
    rates = [float(rate) for rate in history["learning_rate"]]
    return Found(history["loss"], rates, min(history["val_loss"]), restored_loss)


if __name__ == "__main__":
    run_from_command_line(main)
