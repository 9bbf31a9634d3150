"""Strategies for tests, by name and number of virtual devices, built once."""

import functools

import tfdist


@functools.cache
def strategy_of(spec: str):
    """A strategy by name and number of virtual devices, such as ``mirrored-2``."""
    name, _, count = spec.partition("-")
    devices = [f"CPU:{i}" for i in range(int(count))]
    if name == "one_device":
        return tfdist.strategy(name, device=devices[0])
    if name == "central_storage":
        return tfdist.strategy(name, compute_devices=devices, parameter_device="CPU:0")
    return tfdist.strategy(name, devices=devices)
