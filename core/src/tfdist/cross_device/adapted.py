"""A user's own subclass of ``tf.distribute.CrossDeviceOps`` in the place of ours."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from tfdist.cross_device.base import CrossDeviceOps
from tfdist.cross_device.copies import mirrored
from tfdist.cross_device.destinations import components_of, devices_of
from tfdist.errors import OptionError
from tfdist.values import Mirrored


class AdaptedOps(CrossDeviceOps):
    """Calls the methods that a foreign implementation overrides; ours for all others.

    Args:
        foreign: The object; it overrides at least ``reduce_implementation`` or ``reduce``.

    Raises:
        OptionError: It overrides neither.
    """

    def __init__(self, foreign: tf.distribute.CrossDeviceOps) -> None:
        super().__init__()
        self._foreign = foreign
        if not self._overrides("reduce_implementation") and not self._overrides("reduce"):
            raise OptionError(
                f"Cannot reduce with a {type(foreign).__name__}. It has no reduce_implementation, "
                "and a CrossDeviceOps that overrides it was expected. Write that method, or derive "
                "from tfdist.cross_device.CrossDeviceOps."
            )

    def reduce_implementation(
        self, reduce_op: Any, per_replica_value: Any, destinations: Any, options: Any
    ) -> Any:
        """The foreign reduction, as our kind of value."""
        name = "reduce" if self._overrides("reduce") else "reduce_implementation"
        method = getattr(self._foreign, name)
        return _as_ours(method(reduce_op, per_replica_value, _for_foreign(destinations), options))

    def batch_reduce_implementation(
        self, reduce_op: Any, value_destination_pairs: Any, options: Any
    ) -> list[Any]:
        """The foreign batch reduction if there is one, else one by one."""
        for name in ("batch_reduce", "batch_reduce_implementation"):
            if self._overrides(name):
                pairs = [(value, _for_foreign(to)) for value, to in value_destination_pairs]
                results = getattr(self._foreign, name)(reduce_op, pairs, options)
                return [_as_ours(result) for result in results]
        return super().batch_reduce_implementation(reduce_op, value_destination_pairs, options)

    def broadcast_implementation(self, tensor: Any, destinations: Any) -> Any:
        """The foreign broadcast if there is one, else ours."""
        for name in ("broadcast", "broadcast_implementation"):
            if self._overrides(name):
                return _as_ours(getattr(self._foreign, name)(tensor, _for_foreign(destinations)))
        return super().broadcast_implementation(tensor, destinations)

    def _overrides(self, name: str) -> bool:
        own = getattr(type(self._foreign), name)
        return own is not getattr(tf.distribute.CrossDeviceOps, name)


def _for_foreign(destinations: Any) -> Any:
    """Destinations as TensorFlow's interface knows them: no lists of devices there."""
    if not isinstance(destinations, (list, tuple)):
        return destinations
    devices = devices_of(destinations)
    return devices[0] if len(devices) == 1 else _Places([_Place(device) for device in devices])


class _Place:
    """Stands for a device where a value is asked for."""

    def __init__(self, device: str) -> None:
        self.device = device


class _Places(Mirrored):
    """Stands for several devices where a distributed value is asked for."""


def _as_ours(value: Any) -> Any:
    components = components_of(value)
    return value if components is None else mirrored(components)
