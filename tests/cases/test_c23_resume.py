"""Case C23: an epoch that was interrupted goes on where it stopped, in another process."""

import json
import subprocess
import sys

import pytest

EPOCHS, BATCHES, STOP_AFTER = 2, 10, 4

# Each batch has its number as input, so that what was seen can be told.
PROGRAM = """
import json, os, sys
import numpy as np, tensorflow as tf
import tfdist
from tfdist.testing import set_virtual_cpu_devices
spec, folder, stop_after = sys.argv[1], sys.argv[2], int(sys.argv[3])
set_virtual_cpu_devices(2)
import keras

name, _, count = spec.partition("-")
option = "compute_devices" if name == "central_storage" else "devices"
strategy = tfdist.strategy(name, **{option: [f"CPU:{i}" for i in range(int(count))]})
x = np.arange(1, 11, dtype="float32").repeat(2).reshape(-1, 1)
dataset = tf.data.Dataset.from_tensor_slices((x, 0 * x)).batch(2)
seen = []

class Watch(keras.callbacks.Callback):
    epoch = 0
    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch
    def on_train_batch_end(self, batch, logs=None):
        seen.append([self.epoch, batch, int(self.model.optimizer.iterations)])
        if len(seen) == stop_after:
            print(json.dumps(result())); sys.stdout.flush(); os._exit(0)

def result():
    return {"seen": seen, "weights": [w.tolist() for w in model.get_weights()]}

with strategy.scope():
    inputs = keras.Input((1,))
    layer = keras.layers.Dense(1, kernel_initializer="ones")
    model = keras.Model(inputs, layer(inputs))
    model.compile(keras.optimizers.Adam(0.01), "mse")
backup = keras.callbacks.BackupAndRestore(folder, save_freq=1)
model.fit(dataset, epochs=2, shuffle=False, verbose=0, callbacks=[backup, Watch()])
print(json.dumps(result()))
"""


def run(spec, folder, stop_after=0):
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM, spec, str(folder), str(stop_after)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert process.returncode == 0, process.stderr[-2000:]
    return json.loads(process.stdout.splitlines()[-1])


def steps(first, last):
    """Epoch, batch and optimizer step of the steps ``first`` to ``last``, counted from 0."""
    return [[i // BATCHES, i % BATCHES, i + 1] for i in range(first, last)]


@pytest.mark.parametrize("spec", ["mirrored-2", "central_storage-2"])
@pytest.mark.parametrize("stop_after", [STOP_AFTER])
def test_c23_resume_in_a_new_process(spec, stop_after, tmp_path):
    whole = run(spec, tmp_path / "whole")
    assert whole["seen"] == steps(0, EPOCHS * BATCHES)

    stopped = run(spec, tmp_path / "resumed", stop_after)
    resumed = run(spec, tmp_path / "resumed")
    assert stopped["seen"] == steps(0, stop_after)
    assert resumed["seen"] == steps(stop_after, EPOCHS * BATCHES)
    assert resumed["weights"] == whole["weights"]
