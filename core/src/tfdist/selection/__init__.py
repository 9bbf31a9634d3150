"""Choosing strategies, cross-device ops, inputs and failure handlers by name."""

from tfdist.selection.choose import (
    ENVIRONMENT,
    Choice,
    choose_strategy,
    cross_device_ops,
    failure_handler,
    input_distributor,
    strategies,
    strategy,
)
from tfdist.selection.targets import tensorflow, tensorflow_missing

__all__ = [
    "ENVIRONMENT",
    "Choice",
    "choose_strategy",
    "cross_device_ops",
    "failure_handler",
    "input_distributor",
    "strategies",
    "strategy",
    "tensorflow",
    "tensorflow_missing",
]
