"""The tf.data names that are not public are there and do what the seam says."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from tfdist.tf_internals import datasets

HOST = "/job:localhost/replica:0/task:0/device:CPU:0"
SECOND = "/job:localhost/replica:0/task:0/device:CPU:1"


def test_multi_device_iterator_deals_and_places() -> None:
    iterator = datasets.multi_device_iterator(tf.data.Dataset.range(4), [HOST, SECOND], HOST, 1)
    first, second = iterator.get_next()
    assert (int(first), int(second)) == (0, 1)
    assert second.backing_device == SECOND
    spec = datasets.MultiDeviceIteratorSpec([HOST, SECOND], HOST, tf.TensorSpec([], tf.int64))
    assert spec.is_compatible_with(iterator)


def test_copy_eagerly() -> None:
    copy = datasets.copy_eagerly(tf.constant([1, 2]), SECOND)
    assert copy.backing_device == SECOND
    assert copy.numpy().tolist() == [1, 2]


def test_optional_round_trip() -> None:
    variant = datasets.optional_to_variant(tf.experimental.Optional.from_value([1, 2]))
    optional = datasets.optional_from_variant(variant, tf.TensorSpec([None], tf.int32))
    assert optional.element_spec == tf.TensorSpec([None], tf.int32)
    assert optional.get_value().numpy().tolist() == [1, 2]


def test_retyped() -> None:
    pairs = tf.data.Dataset.from_tensors((1, [2, 3]))
    spec = {"a": tf.TensorSpec([], tf.int32), "b": tf.TensorSpec([None], tf.int32)}
    dataset = datasets.retyped(pairs, spec)
    assert dataset.element_spec == spec
    (element,) = dataset.as_numpy_iterator()
    assert (element["a"], element["b"].tolist()) == (1, [2, 3])


def test_as_components() -> None:
    dataset = datasets.as_components(tf.data.Dataset.from_tensors({"b": [1], "a": None, "c": 2}))
    assert dataset.element_spec == (tf.TensorSpec([1], tf.int32), tf.TensorSpec([], tf.int32))


def test_input_datasets() -> None:
    source = tf.data.Dataset.range(3)
    assert datasets.input_datasets(source.batch(2)) == (source,)
    assert datasets.input_datasets(source) == ()


def test_constant_filenames() -> None:
    names = ["a", "b"]
    assert datasets.constant_filenames(tf.data.TFRecordDataset(names)) == names
    interleaved = tf.data.Dataset.from_tensor_slices(names).interleave(tf.data.TextLineDataset)
    assert datasets.constant_filenames(interleaved) == names
    assert datasets.constant_filenames(tf.data.Dataset.from_tensor_slices(names)) == []


class Counted(list[Any]):
    pass


def test_enumerate_in_a_graph() -> None:
    datasets.register_enumerate(Counted, lambda value, start: [(start, tf.constant(len(value)))])

    @tf.function
    def fold() -> Any:
        total = tf.constant(0)
        for index, length in enumerate(Counted([1, 2])):
            total += index + length
        return total

    assert int(fold()) == 2
