"""All values to one device, added there, and the result back to all."""

from __future__ import annotations

import logging
from typing import Any

from tfdist.cross_device.base import CrossDeviceOps
from tfdist.cross_device.buckets import by_bytes, reduce_in_packs
from tfdist.cross_device.copies import share
from tfdist.cross_device.destinations import devices_of, on_device
from tfdist.cross_device.gathering import concatenate
from tfdist.cross_device.sums import Accumulation, add_in_order, combine
from tfdist.errors import OptionError
from tfdist.values import PerReplica

logger = logging.getLogger(__name__)


class ReductionToOneDevice(CrossDeviceOps):
    """Copies all values to one device, adds them there in replica order, shares the sum.

    Args:
        reduce_to_device: The device to add on; None for the first destination.
        accumulation_fn: Gets the list of dense values and returns their sum; None for
            adding in replica order. With one of your own, values are never packed.

    Raises:
        DeviceError: ``reduce_to_device`` does not exist.
        OptionError: ``accumulation_fn`` cannot be called.
    """

    def __init__(
        self, reduce_to_device: str | None = None, accumulation_fn: Accumulation | None = None
    ) -> None:
        super().__init__()
        if accumulation_fn is not None and not callable(accumulation_fn):
            raise OptionError(
                f"Cannot add values with accumulation_fn={accumulation_fn!r}. A function of a list "
                f"of tensors was expected, and this is a {type(accumulation_fn).__name__}. Pass a "
                "function such as tf.add_n, or None."
            )
        self.reduce_to_device = devices_of(reduce_to_device)[0] if reduce_to_device else None
        self.accumulation_fn = accumulation_fn

    def reduce_implementation(
        self, reduce_op: Any, per_replica_value: Any, destinations: Any, options: Any
    ) -> Any:
        """Adds on one device and shares the result with the destinations."""
        del options
        return self._reduce(reduce_op, per_replica_value, devices_of(destinations))

    def batch_reduce_implementation(
        self, reduce_op: Any, value_destination_pairs: Any, options: Any
    ) -> list[Any]:
        """Adds pack by pack where ``bytes_per_pack`` is set, else value by value."""
        if not options.bytes_per_pack or self.accumulation_fn is not None:
            return super().batch_reduce_implementation(reduce_op, value_destination_pairs, options)

        def reduce_one(value: PerReplica, devices: tuple[str, ...]) -> Any:
            return self._reduce(reduce_op, value, devices)

        return reduce_in_packs(
            value_destination_pairs, by_bytes(options.bytes_per_pack), reduce_one
        )

    def gather_implementation(
        self, per_replica_value: Any, destinations: Any, axis: Any, options: Any
    ) -> Any:
        """Concatenates on one device and shares the result with the destinations."""
        del options
        devices = devices_of(destinations)
        hub = self.reduce_to_device or devices[0]
        return share(concatenate(per_replica_value.values, axis, hub), devices)

    def _reduce(self, reduce_op: Any, value: PerReplica, devices: tuple[str, ...]) -> Any:
        accumulate = self.accumulation_fn or add_in_order
        return reduce_to_one(reduce_op, value, devices, self.reduce_to_device, accumulate)


def reduce_to_one(
    reduce_op: Any,
    value: PerReplica,
    devices: tuple[str, ...],
    hub: str | None = None,
    accumulate: Accumulation = add_in_order,
) -> Any:
    """Reduces a checked value on the hub (None: the first device) and shares it with devices."""
    hub = devices[0] if hub is None else hub
    logger.debug("reduce on %s, share with %s", hub, devices)
    with on_device(hub):
        reduced = combine(reduce_op, value.values, accumulate)
    return share(reduced, devices)
