"""The operations on values of several devices of this process, and what a vendor overrides."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from tfdist.cross_device.checks import (
    as_options,
    as_pairs,
    as_per_replica,
    as_tensor,
    check_gatherable,
    check_reducible,
)
from tfdist.cross_device.copies import copy_to, mirrored, nearest, share
from tfdist.cross_device.destinations import components_of, devices_of
from tfdist.cross_device.gathering import concatenate
from tfdist.cross_device.unconverted import unconverted
from tfdist.replica.reduce_ops import as_reduce_op
from tfdist.values import PerReplica


class CrossDeviceOps(tf.distribute.CrossDeviceOps, metaclass=abc.ABCMeta):
    """Reduces, broadcasts and gathers values of several devices of one process.

    A vendor overrides ``reduce_implementation`` and, where it has something better, the other
    ``..._implementation`` methods; those get values and arguments that are checked already. All of
    it works eagerly and inside ``tf.function``, in cross-replica context.
    """

    def check_devices(self, devices: Sequence[str]) -> None:
        """Refuses devices that this implementation cannot serve; called when a strategy is made.

        Args:
            devices: Canonical names, one a replica.

        Raises:
            UnavailableError: Hardware or software for them is missing.
        """

    @unconverted
    def reduce(
        self, reduce_op: Any, per_replica_value: Any, destinations: Any, options: Any = None
    ) -> Any:
        """Reduces one value a replica to the destinations.

        Args:
            reduce_op: ``tf.distribute.ReduceOp`` or its name.
            per_replica_value: A distributed value of dense tensors of one shape and numeric dtype,
                or of ``tf.IndexedSlices``; or one tensor, which counts as one replica's.
            destinations: Where the result goes; see ``devices_of``. The same as the value for an
                all-reduce.
            options: ``tf.distribute.experimental.CommunicationOptions``.

        Returns:
            The same sum or mean on each destination, as ``Mirrored``; a plain tensor (or
            ``tf.IndexedSlices``) for one destination device. The mean of integers of two or more
            replicas is floating.

        Raises:
            OptionError: ``reduce_op`` or ``options`` is not valid.
            DeviceError: A destination is not a device.
            ValueMismatchError: The values cannot be reduced: no tensors, other dtypes or shapes.

        *Cost*: the bytes of the value, once from each replica and once to each destination.
        *Runs on*: the process that calls.
        """
        operation = as_reduce_op(reduce_op)
        value = self._reducible(per_replica_value)
        devices = devices_of(destinations)
        options = as_options(options)
        if len(value.values) == 1:
            return share(value.values[0], devices)
        return self.reduce_implementation(operation, value, destinations, options)

    @unconverted
    def batch_reduce(
        self, reduce_op: Any, value_destination_pairs: Any, options: Any = None
    ) -> list[Any]:
        """Reduces many values, each to its destinations.

        Args:
            reduce_op: ``tf.distribute.ReduceOp`` or its name.
            value_destination_pairs: A list of (value, destinations), as for ``reduce``.
            options: ``CommunicationOptions``; ``bytes_per_pack`` lets small dense tensors travel
                together in packs of at most that size.

        Returns:
            One result a pair, in order; the same numbers as ``reduce`` gives for each.

        Raises:
            OptionError, DeviceError, ValueMismatchError: As ``reduce``; before anything is sent.

        *Cost*: as ``reduce`` for each pair; fewer, larger transfers where packed.
        *Runs on*: the process that calls.
        """
        operation = as_reduce_op(reduce_op)
        pairs = [(self._reducible(v), d) for v, d in as_pairs(value_destination_pairs)]
        devices = [devices_of(destinations) for _, destinations in pairs]
        options = as_options(options)
        several = [pair for pair in pairs if len(pair[0].values) > 1]
        reduced = iter(
            self.batch_reduce_implementation(operation, several, options) if several else ()
        )
        return [
            next(reduced) if len(value.values) > 1 else share(value.values[0], to)
            for (value, _), to in zip(pairs, devices, strict=True)
        ]

    @unconverted
    def broadcast(self, tensor: Any, destinations: Any) -> Any:
        """Copies a value to the destinations.

        Args:
            tensor: A tensor or composite tensor of any shape and dtype, a number or array, or a
                ``Mirrored`` value, of which the nearest copy is taken.
            destinations: Where it goes; see ``devices_of``.

        Returns:
            ``Mirrored``, or a plain copy for one destination device.

        Raises:
            DeviceError: A destination is not a device.
            ValueMismatchError: It is no tensor and cannot become one.

        *Cost*: one copy of the value a destination. *Runs on*: the process that calls.
        """
        devices_of(destinations)
        if components_of(tensor) is None:
            tensor = as_tensor(tensor)
        return self.broadcast_implementation(tensor, destinations)

    @unconverted
    def gather(
        self, per_replica_value: Any, destinations: Any, axis: Any, options: Any = None
    ) -> Any:
        """Concatenates one value a replica, in order, along an axis.

        Args:
            per_replica_value: A distributed value of tensors of one rank (1 or more) and one dtype,
                any dtype, whose sizes may differ along ``axis`` only; or of ragged or sparse
                tensors; or one tensor.
            destinations: Where the result goes; see ``devices_of``.
            axis: The dimension; negative ones count from the last.
            options: ``tf.distribute.experimental.CommunicationOptions``.

        Returns:
            The concatenation as ``Mirrored``, or a plain tensor for one destination device.

        Raises:
            OptionError: The axis is out of range, or options are not valid.
            DeviceError: A destination is not a device.
            ValueMismatchError: Scalars, ``tf.IndexedSlices``, other ranks, dtypes or sizes.

        *Cost*: the bytes of all values to one device, and of the result to each destination.
        *Runs on*: the process that calls.
        """
        value = as_per_replica(per_replica_value)
        check_gatherable(value.values, axis)
        devices = devices_of(destinations)
        options = as_options(options)
        if len(value.values) == 1:
            return share(value.values[0], devices)
        return self.gather_implementation(value, destinations, axis, options)

    @unconverted
    def batch_gather(
        self, value_destination_pairs: Any, axis: Any, options: Any = None
    ) -> list[Any]:
        """Gathers many values, each to its destinations; as ``gather`` for each pair.

        Raises:
            OptionError, DeviceError, ValueMismatchError: As for ``gather``.

        *Cost*: as ``gather`` for each pair. *Runs on*: the process that calls.
        """
        pairs = as_pairs(value_destination_pairs)
        return [self.gather(value, to, axis, options) for value, to in pairs]

    @abc.abstractmethod
    def reduce_implementation(
        self, reduce_op: Any, per_replica_value: Any, destinations: Any, options: Any
    ) -> Any:
        """Reduces a checked ``PerReplica`` of two or more tensors; what ``reduce`` promises."""

    def batch_reduce_implementation(
        self, reduce_op: Any, value_destination_pairs: Any, options: Any
    ) -> list[Any]:
        """Reduces a list of checked pairs; one after the other unless overridden."""
        return [
            self.reduce_implementation(reduce_op, value, destinations, options)
            for value, destinations in value_destination_pairs
        ]

    def broadcast_implementation(self, tensor: Any, destinations: Any) -> Any:
        """Copies a tensor, or the nearest copy of a ``Mirrored``, to each destination."""
        return mirrored([copy_to(nearest(tensor, d), d) for d in devices_of(destinations)])

    def gather_implementation(
        self, per_replica_value: Any, destinations: Any, axis: Any, options: Any
    ) -> Any:
        """Concatenates on the first destination device and shares the result."""
        del options
        devices = devices_of(destinations)
        return share(concatenate(per_replica_value.values, axis, devices[0]), devices)

    @staticmethod
    def _reducible(value: Any) -> PerReplica:
        per_replica = as_per_replica(value)
        check_reducible(per_replica.values)
        return per_replica
