"""Every program of examples/custom_loops runs and keeps what it promises (it asserts that itself).

What is tested on top: the numbers are those of one device, and of NumPy where that is simple.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from examples.custom_loops import (
    datasets_from_function,
    keras_fit,
    loop_in_graph,
    plain_variables,
    saving,
    training_loop,
)
from examples.data import digits

ONE = "one_device?device=CPU:0"
TWO = "mirrored?devices=CPU:0,CPU:1"
THREE = "mirrored?devices=CPU:0,CPU:1,CPU:2"
ROOT = Path(__file__).parents[2]


def test_a_loop_by_hand_has_the_losses_of_one_device():
    expected = training_loop.main(ONE, epochs=2)
    found = training_loop.main(TWO, epochs=2)
    np.testing.assert_allclose(found.epoch_losses, expected.epoch_losses, rtol=1e-3)
    assert found.restored_accuracy == found.test_accuracy > 0.8
    assert found.restored_steps == 2 * 23


def test_a_loop_in_the_graph_is_traced_once_and_counts_each_batch():
    found = loop_in_graph.main(TWO, epochs=2)
    assert found.steps_per_epoch == 23
    assert found.traces == 1


def test_the_loop_in_the_graph_has_the_losses_of_the_loop_in_python():
    inside = loop_in_graph.main(TWO, epochs=2).epoch_losses
    outside = training_loop.main(TWO, epochs=2).epoch_losses
    np.testing.assert_allclose(inside, outside, rtol=1e-3)


def test_a_dataset_from_a_function_gives_each_replica_its_share():
    found = datasets_from_function.main(TWO, epochs=2)
    assert found.batch_size_per_replica == 48
    assert found.examples_seen == 1437


@pytest.mark.parametrize("spec", [ONE, TWO, THREE])
def test_plain_variables_train_as_numpy_does(spec):
    found = plain_variables.main(spec, epochs=2)
    kernel, losses = softmax_regression(epochs=2)
    np.testing.assert_allclose(found.kernel, kernel, atol=1e-4)
    np.testing.assert_allclose(found.epoch_losses, losses, rtol=1e-4)
    assert found.examples_seen == 2 * 1437


def softmax_regression(epochs):
    data = digits()
    pixels = data.train_images.reshape(-1, 64).astype("float64")
    kernel, bias = np.zeros((64, 10)), np.zeros(10)
    epoch_losses = []
    for _ in range(epochs):
        total = 0.0
        for start in range(0, len(pixels), plain_variables.GLOBAL_BATCH_SIZE):
            x = pixels[start : start + plain_variables.GLOBAL_BATCH_SIZE]
            y = data.train_labels[start : start + plain_variables.GLOBAL_BATCH_SIZE]
            logits = x @ kernel + bias
            exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
            probabilities = exponentials / exponentials.sum(axis=1, keepdims=True)
            total -= np.log(probabilities[np.arange(len(y)), y]).sum()
            error = (probabilities - np.eye(10)[y]) / len(y)
            kernel -= plain_variables.LEARNING_RATE * x.T @ error
            bias -= plain_variables.LEARNING_RATE * error.sum(axis=0)
        epoch_losses.append(total / len(pixels))
    return kernel, epoch_losses


def test_a_saved_model_gives_the_same_logits_in_and_out_of_scope():
    assert max(saving.main(TWO)) < 1e-5


def test_fit_with_callbacks_keeps_the_best_weights():
    found = keras_fit.main(TWO, epochs=3)
    np.testing.assert_allclose(found.learning_rates, [0.003, 0.0015, 0.00075], rtol=1e-6)
    np.testing.assert_allclose(found.restored_test_loss, found.best_test_loss, rtol=1e-4)


def run(*arguments, timeout_s=90):
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=ROOT,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )


def test_a_program_runs_from_the_command_line():
    done = run("examples.custom_loops.plain_variables")
    assert done.returncode == 0, done.stderr
    assert "examples_seen: 5748" in done.stdout


def test_a_mistyped_strategy_ends_in_one_sentence():
    done = run("examples.custom_loops.plain_variables", "--strategy", "mirored")
    assert done.returncode == 1
    assert "mirrored" in done.stderr
    assert "Traceback" not in done.stderr
