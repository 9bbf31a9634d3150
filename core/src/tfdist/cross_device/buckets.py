"""Many small dense tensors reduced as few large ones, with exactly the same results."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import tensorflow as tf

from tfdist.cross_device.copies import mirrored
from tfdist.cross_device.destinations import components_of, device_of, devices_of, on_device
from tfdist.values import PerReplica

Plan = list[list[int]]
Planner = Callable[[Sequence[int]], Plan]
ReduceOne = Callable[[PerReplica, tuple[str, ...]], Any]


def by_bytes(limit_bytes: int) -> Planner:
    """Packs of at most so many bytes; a tensor that is larger goes alone."""

    def plan(sizes_bytes: Sequence[int]) -> Plan:
        packs: Plan = []
        filled = 0
        for i, size in enumerate(sizes_bytes):
            if not packs or filled + size > limit_bytes:
                packs.append([])
                filled = 0
            packs[-1].append(i)
            filled += size
        return packs

    return plan


def by_count(pack_count: int) -> Planner:
    """At most so many packs of about equal bytes; 0 packs nothing."""

    def plan(sizes_bytes: Sequence[int]) -> Plan:
        if not pack_count:
            return [[i] for i in range(len(sizes_bytes))]
        share = max(math.ceil(sum(sizes_bytes) / pack_count), 1)
        packs: dict[int, list[int]] = {}
        offset = 0
        for i, size in enumerate(sizes_bytes):
            # A tensor belongs to the pack in which its middle byte falls.
            packs.setdefault(min((offset + size // 2) // share, pack_count - 1), []).append(i)
            offset += size
        return list(packs.values())

    return plan


def reduce_in_packs(
    pairs: Sequence[tuple[PerReplica, Any]], planner: Planner, reduce_one: ReduceOne
) -> list[Any]:
    """Reduces a batch, packing what can travel together.

    Tensors are packed with others of their dtype, source devices and destination devices. Sparse
    values and those of unknown shape are reduced one by one.

    Args:
        pairs: Checked values and their destinations.
        planner: Gets the bytes of tensors that may share packs, says which do.
        reduce_one: Reduces one value to devices; elementwise, so that packing changes nothing.

    Returns:
        The results, in the order of the pairs.
    """
    devices = [devices_of(destinations) for _, destinations in pairs]
    groups: dict[Hashable, list[int]] = {}
    for i, (value, _) in enumerate(pairs):
        groups.setdefault(_group(i, value, devices[i]), []).append(i)
    results: dict[int, Any] = {}
    for members in groups.values():
        sizes = [_bytes(pairs[i][0]) for i in members]
        for pack in planner(sizes) if len(members) > 1 else [[0]]:
            indices = [members[k] for k in pack]
            values = [pairs[i][0] for i in indices]
            reduced = _reduce_pack(values, devices[indices[0]], reduce_one)
            results.update(zip(indices, reduced, strict=True))
    return [results[i] for i in range(len(pairs))]


def _group(index: int, value: PerReplica, devices: tuple[str, ...]) -> Hashable:
    first = value.values[0]
    dense = all(isinstance(each, tf.Tensor) for each in value.values)
    if not dense or not all(each.shape.is_fully_defined() for each in value.values):
        return index
    return (first.dtype, tuple(device_of(each) for each in value.values), devices)


def _bytes(value: PerReplica) -> int:
    first = value.values[0]
    if not isinstance(first, tf.Tensor) or not first.shape.is_fully_defined():
        return 0
    return int(first.shape.num_elements()) * int(first.dtype.size)


def _reduce_pack(
    values: Sequence[PerReplica], devices: tuple[str, ...], reduce_one: ReduceOne
) -> list[Any]:
    if len(values) == 1:
        return [reduce_one(values[0], devices)]
    replicas = zip(*(value.values for value in values), strict=True)
    reduced = reduce_one(PerReplica([_pack(tensors) for tensors in replicas]), devices)
    shapes = [value.values[0].shape for value in values]
    copies = [_unpack(flat, shapes) for flat in components_of(reduced) or (reduced,)]
    return [mirrored(of_one_value) for of_one_value in zip(*copies, strict=True)]


def _pack(tensors: Sequence[tf.Tensor]) -> tf.Tensor:
    with on_device(device_of(tensors[0])):
        return tf.concat([tf.reshape(t, [-1]) for t in tensors], axis=0)


def _unpack(flat: tf.Tensor, shapes: Sequence[tf.TensorShape]) -> list[tf.Tensor]:
    with on_device(device_of(flat)):
        parts = tf.split(flat, [shape.num_elements() for shape in shapes])
        return [tf.reshape(part, shape) for part, shape in zip(parts, shapes, strict=True)]
