"""A user's own subclass of ``tf.distribute.CrossDeviceOps`` in the place of ours."""

from __future__ import annotations

import abc
from typing import Any

import tensorflow as tf

from tfdist.cross_device.base import CrossDeviceOps
from tfdist.errors import OptionError


def adapted(foreign: tf.distribute.CrossDeviceOps) -> CrossDeviceOps:
    """An object with the methods and the state of a foreign one, and ours for all it lacks.

    Its class derives from the foreign class first and from ours second, so what the user wrote
    wins, and what TensorFlow's base class would have done is done by tfdist. State is shared.

    Raises:
        OptionError: The foreign class reduces nothing.
    """
    theirs = type(foreign)
    namespace: dict[str, Any] = {"__doc__": theirs.__doc__, "__module__": theirs.__module__}
    if not _overrides(theirs, "reduce_implementation"):
        if not _overrides(theirs, "reduce"):
            raise OptionError(
                f"Cannot reduce with a {theirs.__name__}. It has no reduce_implementation, and a "
                "CrossDeviceOps that overrides it was expected. Write that method, or derive from "
                "tfdist.cross_device.CrossDeviceOps."
            )
        namespace["reduce_implementation"] = _through_reduce
    joined: Any = abc.ABCMeta(theirs.__name__, (theirs, CrossDeviceOps), namespace)
    ops: CrossDeviceOps = object.__new__(joined)
    ops.__dict__ = foreign.__dict__
    return ops


def _overrides(theirs: type, name: str) -> bool:
    return getattr(theirs, name) is not getattr(tf.distribute.CrossDeviceOps, name)


def _through_reduce(
    self: CrossDeviceOps, reduce_op: Any, per_replica_value: Any, destinations: Any, options: Any
) -> Any:
    """For a batch, where the user wrote ``reduce`` itself."""
    return self.reduce(reduce_op, per_replica_value, destinations, options)
