"""Case C13: predictions come back whole and in order."""

import keras
import numpy as np
import pytest
import tensorflow as tf


def identity(strategy, as_dict):
    with strategy.scope():
        inputs = keras.Input((1,))
        outputs = keras.layers.Activation("linear")(inputs)
        return keras.Model(inputs, {"a": outputs, "b": 2 * outputs} if as_dict else outputs)


@pytest.mark.parametrize("as_dict", [False, True])
def test_c13_predict(as_dict, strategy):
    x = np.arange(7, dtype="float32").reshape(7, 1)
    model = identity(strategy, as_dict)
    result = model.predict(x, batch_size=4, verbose=0)
    result = result if as_dict else {"a": result, "b": 2 * result}
    np.testing.assert_array_equal(result["a"], x)
    np.testing.assert_array_equal(result["b"], 2 * x)


def test_c13_predict_in_a_loop(strategy):
    x = np.arange(7, dtype="float32").reshape(7, 1)
    model = identity(strategy, as_dict=False)
    parts = []
    dataset = tf.data.Dataset.from_tensor_slices(x).batch(4)
    for batch in strategy.experimental_distribute_dataset(dataset):
        parts += strategy.experimental_local_results(strategy.run(model, args=(batch,)))
    np.testing.assert_array_equal(np.concatenate(parts), x)
