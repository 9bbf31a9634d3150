"""Pieces of the tf.data runtime that have no public name."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.autograph.operators import py_builtins
from tensorflow.python.data.ops import dataset_ops, multi_device_iterator_ops, optional_ops
from tensorflow.python.data.util import structure

# The type of a multi-device iterator, by which a tf.function takes it as an argument. (2.21)
MultiDeviceIteratorSpec = multi_device_iterator_ops.MultiDeviceIteratorSpec

_FILE_READERS = ("TFRecordDataset", "TextLineDataset", "FixedLengthRecordDataset")


def multi_device_iterator(dataset: Any, devices: Sequence[str], host: str, buffer_size: int) -> Any:
    """Feeds consecutive elements of one dataset to several devices in turn, ahead of time. (2.21)

    It reads the options of the dataset, which warns within a graph that they may have changed.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*preserve tf.data options", UserWarning)
        return multi_device_iterator_ops.OwnedMultiDeviceIterator(
            dataset,
            devices,
            max_buffer_size=buffer_size,
            prefetch_buffer_size=buffer_size,
            source_device=host,
        )


class _Retyped(dataset_ops.UnaryDataset):
    """A dataset whose elements are read as another type of the same components. (2.21)"""

    def __init__(self, source: Any, element_spec: Any) -> None:
        self._spec = element_spec
        super().__init__(source, source._variant_tensor)

    @property
    def element_spec(self) -> Any:
        return self._spec


def retyped(dataset: Any, element_spec: Any) -> Any:
    """The dataset with its elements read as ``element_spec``, which has the same tensors in it."""
    return _Retyped(dataset, element_spec)


def as_components(dataset: Any) -> Any:
    """The dataset with its elements as the tuple of tensors that the runtime passes on. (2.21)"""
    return _Retyped(dataset, tuple(structure.get_flat_tensor_specs(dataset.element_spec)))


def copy_eagerly(tensor: Any, device: str) -> Any:
    """An eager tensor on another device; a tenth of the time of ``tf.identity`` there. (2.21)

    Gradients do not go through it, and data just read has none.
    """
    return tensor._copy_to_device(device)


def optional_to_variant(optional: Any) -> Any:
    """The scalar variant tensor inside a ``tf.experimental.Optional``. (2.21)"""
    return optional._variant_tensor


def optional_from_variant(variant: Any, element_spec: Any) -> Any:
    """An Optional around a variant tensor, read with ``element_spec``. (2.21)"""
    return optional_ops._OptionalImpl(variant, element_spec)


def input_datasets(dataset: Any) -> Sequence[Any]:
    """The datasets that a dataset reads from. (2.21)"""
    return tuple(dataset._inputs())


def constant_filenames(dataset: Any) -> list[str]:
    """Names of the files that a dataset itself reads, as far as they are constants. (2.21)"""
    source = getattr(dataset, "_filenames", None)
    if source is None and _function_reads_files(dataset):
        source = dataset._input_dataset
    return [] if source is None else _constant_strings(source)


def _function_reads_files(dataset: Any) -> bool:
    """Whether the function of an interleave or flat_map makes a dataset that reads files."""
    function = getattr(getattr(dataset, "_map_func", None), "function", None)
    if function is None or not hasattr(function, "graph"):
        return False
    graph = function.graph.as_graph_def()
    # Readers put the one that opens a file into a function of their own.
    nodes = [*graph.node, *(node for f in graph.library.function for node in f.node_def)]
    return any(node.op.startswith(_FILE_READERS) for node in nodes)


def _constant_strings(dataset: Any) -> list[str]:
    found: list[str] = []
    for tensor in getattr(dataset, "_tensors", ()):
        value = tf.get_static_value(tensor) if tensor.dtype == tf.string else None
        if value is not None:
            found.extend(tf.compat.as_str_any(name) for name in value.reshape(-1))
    for source in input_datasets(dataset):
        found.extend(_constant_strings(source))
    return found


def register_enumerate(cls: type, function: Callable[[Any, Any], Any]) -> None:
    """What ``enumerate(x)`` calls in converted code, for an ``x`` of ``cls``. (2.21)"""
    py_builtins.enumerate_registry.register(cls, function)
