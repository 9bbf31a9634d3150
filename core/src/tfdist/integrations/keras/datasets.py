"""Distributed datasets as what `fit`, `evaluate` and `predict` are given."""

from __future__ import annotations

from typing import Any

from keras.src.trainers import data_adapters
from keras.src.trainers.data_adapters.tf_dataset_adapter import TFDatasetAdapter

from tfdist.errors import DatasetError
from tfdist.input import DistributedDataset
from tfdist.integrations.keras.patching import around


def install() -> None:
    """Keras knows TensorFlow's distributed datasets by the names of class and module only."""
    around(data_adapters, "is_tf_dataset", _is_tf_dataset)
    around(TFDatasetAdapter, "__init__", _adapter)


def _is_tf_dataset(original: Any, x: Any) -> bool:
    return isinstance(x, DistributedDataset) or bool(original(x))


def _adapter(
    original: Any, self: Any, dataset: Any, class_weight: Any = None, distribution: Any = None
) -> None:
    if isinstance(dataset, DistributedDataset) and class_weight is not None:
        raise DatasetError(
            "Cannot apply `class_weight` to a dataset that is distributed already. A "
            "tf.data.Dataset was expected beside `class_weight`. Pass the dataset itself, which "
            "`fit` distributes, or give the weights as third part of its elements."
        )
    original(self, dataset, class_weight, distribution)
