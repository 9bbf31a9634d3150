"""Saving a model that was trained on several devices; loading it in and out of the scope."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import keras
import numpy as np
import numpy.typing as npt
import tensorflow as tf

import tfdist
from examples.custom_loops.command import run_from_command_line
from examples.custom_loops.network import small_network
from examples.data import Digits, digits

SEED = 1
# Not a multiple of two or four: the replicas get shares of different size.
IMAGE_COUNT = 50


class Found(NamedTuple):
    """Largest distance of each way's logits from those of the trained model."""

    keras_without_strategy: float
    keras_in_scope: float
    saved_model_without_strategy: float
    saved_model_in_scope: float


def main(strategy_spec: str, epochs: int = 1) -> Found:
    """Trains, saves as a ``.keras`` file and as a SavedModel, loads each in and out of scope."""
    keras.utils.set_random_seed(SEED)
    strategy = tfdist.strategy(strategy_spec)
    data = digits()
    model = _trained(strategy, data, epochs)
    images = data.test_images[:IMAGE_COUNT]
    expected = model.predict(images, batch_size=IMAGE_COUNT, verbose=0)

    with tempfile.TemporaryDirectory() as folder:
        keras_file = Path(folder) / "digits.keras"
        saved_model = str(Path(folder) / "digits")
        model.save(keras_file)
        model.export(saved_model, verbose=False)

        plain = keras.models.load_model(keras_file)
        loaded = tf.saved_model.load(saved_model)
        with strategy.scope():
            distributed = keras.models.load_model(keras_file)
            # Loaded in the scope, its variables are distributed variables again.
            served = tf.saved_model.load(saved_model)
        logits = {
            "keras_without_strategy": plain.predict(images, batch_size=IMAGE_COUNT, verbose=0),
            "keras_in_scope": distributed.predict(images, batch_size=IMAGE_COUNT, verbose=0),
            "saved_model_without_strategy": loaded.serve(images).numpy(),
            "saved_model_in_scope": _serve_on_all_replicas(strategy, served, images),
        }

    found = Found(**{way: float(np.abs(got - expected).max()) for way, got in logits.items()})
    assert max(found) < 1e-5
    # A model that was loaded in the scope trains on.
    history = distributed.fit(data.train_images, data.train_labels, batch_size=64, verbose=0)
    assert np.isfinite(history.history["loss"][0])
    return found


def _trained(strategy: tf.distribute.Strategy, data: Digits, epochs: int) -> keras.Model:
    with strategy.scope():
        model = small_network()
        model.compile(
            optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        )
    model.fit(data.train_images, data.train_labels, batch_size=64, epochs=epochs, verbose=0)
    return model


def _serve_on_all_replicas(
    strategy: tf.distribute.Strategy, served: Any, images: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """Each replica serves its share; ``gather`` puts the shares together in order."""
    dataset = tf.data.Dataset.from_tensor_slices(images).batch(IMAGE_COUNT)
    (batch,) = strategy.experimental_distribute_dataset(dataset)

    @tf.function
    def serve(batch: Any) -> Any:
        return strategy.run(lambda share: served.serve(share), args=(batch,))

    return strategy.gather(serve(batch), axis=0).numpy()


if __name__ == "__main__":
    run_from_command_line(main)
