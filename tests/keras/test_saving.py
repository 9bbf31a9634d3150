"""Models on disk: written under a strategy, read under another number of replicas or none."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from tests.keras.helpers import X, dense, fit, in_scope, scope, weights


def trained(strategy):
    model = in_scope(dense("adam"), strategy)
    fit(model, epochs=1)
    return model


@pytest.mark.parametrize("restore_in_scope", [False, True])
def test_a_whole_model(strategy, restore_in_scope, tmp_path):
    model = trained(strategy)
    model.save(tmp_path / "model.keras")
    with scope(strategy if restore_in_scope else None):
        restored = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(weights(restored), weights(model))
    for mine, theirs in zip(restored.optimizer.variables, model.optimizer.variables, strict=True):
        np.testing.assert_array_equal(np.asarray(mine), np.asarray(theirs))
    # One more epoch goes on alike, on other numbers of replicas too.
    continued, expected = fit(restored, epochs=1), fit(model, epochs=1)
    np.testing.assert_allclose(continued["weights"], expected["weights"], rtol=2e-5, atol=2e-6)


def test_an_exported_model_serves_without_a_strategy(strategy, tmp_path):
    model = trained(strategy)
    expected = model.predict(X, verbose=0)
    model.export(tmp_path / "served", verbose=False)
    served = tf.saved_model.load(str(tmp_path / "served"))
    np.testing.assert_allclose(served.serve(tf.constant(X)), expected, rtol=1e-5, atol=1e-6)


THEIRS = {
    "mirrored": lambda devices: tf.distribute.MirroredStrategy(devices),
    "central_storage": lambda devices: tf.distribute.experimental.CentralStorageStrategy(
        devices, "CPU:0"
    ),
}


@pytest.mark.parametrize("name", THEIRS)
def test_checkpoints_go_to_the_framework_s_strategies_and_back(name, strategy, tmp_path):
    devices = ["CPU:0", "CPU:1"]

    def build():
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
        model.compile("adam", "mse")
        model.optimizer.build(model.trainable_variables)
        return model

    with THEIRS[name](devices).scope():
        theirs = build()
    for i, v in enumerate(theirs.variables):
        v.assign(np.full(v.shape, i + 1.0))
    ours = in_scope(build, strategy)
    path = tf.train.Checkpoint(model=theirs).save(str(tmp_path / "theirs"))
    tf.train.Checkpoint(model=ours).restore(path).expect_partial()
    np.testing.assert_array_equal(weights(ours), weights(theirs))

    ours.set_weights([w + 10.0 for w in ours.get_weights()])
    path = tf.train.Checkpoint(model=ours).save(str(tmp_path / "ours"))
    tf.train.Checkpoint(model=theirs).restore(path).expect_partial()
    np.testing.assert_array_equal(weights(theirs), weights(ours))
