"""Pieces of the tf.data runtime that have no public name."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.autograph.operators import py_builtins
from tensorflow.python.data.ops import multi_device_iterator_ops, optional_ops

# Feeds consecutive elements of one dataset to several devices in turn, ahead of time. (2.21)
OwnedMultiDeviceIterator = multi_device_iterator_ops.OwnedMultiDeviceIterator
# Its type, by which a tf.function takes it as an argument. (2.21)
MultiDeviceIteratorSpec = multi_device_iterator_ops.MultiDeviceIteratorSpec


def optional_to_variant(optional: Any) -> Any:
    """The scalar variant tensor inside a ``tf.experimental.Optional``. (2.21)"""
    return optional._variant_tensor


def optional_from_variant(variant: Any, element_spec: Any) -> Any:
    """An Optional around a variant tensor, read with ``element_spec``. (2.21)"""
    return optional_ops._OptionalImpl(variant, element_spec)


def input_datasets(dataset: Any) -> Sequence[Any]:
    """The datasets that a dataset reads from. (2.21)"""
    return tuple(dataset._inputs())


def reader_filenames(dataset: Any) -> Any:
    """The file names tensor of a dataset that reads files itself, else None. (2.21)"""
    filenames = getattr(dataset, "_filenames", None)
    return filenames if tf.is_tensor(filenames) else None


def register_enumerate(cls: type, function: Callable[[Any, Any], Any]) -> None:
    """What ``enumerate(x)`` calls in code that autograph converted, for an ``x`` of ``cls``. (2.21)"""
    py_builtins.enumerate_registry.register(cls, function)
