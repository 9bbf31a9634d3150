"""Callbacks that look at logs, set the learning rate, stop, or write files."""

import contextlib
import csv

import keras
import numpy as np
import pytest
from keras import callbacks
from tests.keras.helpers import X, Y, assert_same, dense, fit, in_scope, weights


def adam():
    return keras.optimizers.Adam(0.5)


def run_with(strategy, make, epochs=4):
    model = in_scope(dense(adam), strategy)
    made = make()
    result = fit(model, epochs=epochs, callbacks=[made], validation_data=(X, Y))
    return model, made, result


@pytest.mark.parametrize(
    "make",
    [
        lambda: callbacks.EarlyStopping("loss", patience=0, restore_best_weights=True),
        lambda: callbacks.ReduceLROnPlateau("val_loss", patience=1, factor=0.5, min_delta=1.0),
        lambda: callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.5),
    ],
    ids=["early_stopping", "reduce_lr", "schedule"],
)
def test_callbacks_that_steer(make, mirrored):
    _, _, expected = run_with(None, make)
    _, _, actual = run_with(mirrored, make)
    assert_same(actual, expected)


def test_checkpoints_of_every_epoch(mirrored, tmp_path):
    path = str(tmp_path / "{epoch}.weights.h5")
    model, _, _ = run_with(
        mirrored, lambda: callbacks.ModelCheckpoint(path, save_weights_only=True), epochs=2
    )
    other = in_scope(dense(adam), None)
    other.load_weights(tmp_path / "2.weights.h5")
    np.testing.assert_array_equal(weights(other), weights(model))


def test_logs_on_file(mirrored, tmp_path):
    path = tmp_path / "log.csv"
    _, _, result = run_with(mirrored, lambda: callbacks.CSVLogger(str(path)), epochs=2)
    with path.open() as file:
        rows = list(csv.DictReader(file))
    np.testing.assert_allclose([float(row["loss"]) for row in rows], result["loss"], rtol=1e-6)


def test_tensorboard(mirrored, tmp_path):
    pytest.importorskip("tensorboard")
    run_with(mirrored, lambda: callbacks.TensorBoard(str(tmp_path), update_freq=1), epochs=1)
    assert list(tmp_path.glob("train/events*"))


@pytest.mark.parametrize("stop_after", [1, 4, 6])
def test_resuming_within_an_epoch(stop_after, strategy, tmp_path):
    """Interrupted after some batches of three an epoch, training ends as if it had not been."""

    class Stop(callbacks.Callback):
        def __init__(self, after):
            super().__init__()
            self.after, self.seen = after, []

        def on_train_batch_end(self, batch, logs=None):
            self.seen.append(batch)
            if len(self.seen) == self.after:
                raise KeyboardInterrupt

    def run(folder, after=0):
        model = in_scope(dense(adam), strategy)
        stop = Stop(after)
        backup = callbacks.BackupAndRestore(str(folder), save_freq=1)
        with contextlib.suppress(KeyboardInterrupt):
            fit(model, epochs=3, callbacks=[backup, stop])
        return stop.seen, weights(model)

    seen, expected = run(tmp_path / "whole")
    first, _ = run(tmp_path / "parts", stop_after)
    rest, actual = run(tmp_path / "parts")
    assert first + rest == seen == [0, 1, 2] * 3
    np.testing.assert_array_equal(actual, expected)
