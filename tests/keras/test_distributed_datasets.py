"""fit, evaluate and predict on a dataset that is distributed already."""

import numpy as np
import pytest
import tensorflow as tf
from tests.keras.helpers import BATCH, X, Y, assert_same, dense, in_scope, weights

from tfdist.errors import DatasetError


def run(strategy, distribute):
    model = in_scope(dense(), strategy)
    dataset = distribute(tf.data.Dataset.from_tensor_slices((X, Y)).batch(BATCH))
    result = {
        **model.fit(dataset, epochs=2, shuffle=False, verbose=0).history,
        "weights": weights(model),
    }
    result["evaluate"] = model.evaluate(dataset, verbose=0)
    inputs = distribute(tf.data.Dataset.from_tensor_slices(X).batch(BATCH))
    result["predict"] = model.predict(inputs, verbose=0)
    return result


def test_same_numbers_as_a_plain_dataset_on_one_device(strategy):
    actual = run(strategy, strategy.experimental_distribute_dataset)
    assert_same(actual, run(None, lambda dataset: dataset))
    assert actual["predict"].shape == (len(X), 2)


def test_class_weights_need_the_dataset_itself(strategy):
    model = in_scope(dense(), strategy)
    dataset = tf.data.Dataset.from_tensor_slices((X, np.zeros((len(X), 1)))).batch(BATCH)
    with pytest.raises(DatasetError, match="class_weight"):
        model.fit(
            strategy.experimental_distribute_dataset(dataset),
            class_weight={0: 2.0},
            shuffle=False,
            verbose=0,
        )
