"""Strategies by name and number of virtual devices, for the cases."""

import functools

import pytest

import tfdist


@functools.cache
def strategy_of(spec: str):
    """A strategy such as ``mirrored-2``: its name and how many devices it runs on."""
    name, _, count = spec.partition("-")
    devices = [f"CPU:{i}" for i in range(int(count))]
    if name == "one_device":
        return tfdist.strategy(name, device=devices[0])
    if name == "central_storage":
        return tfdist.strategy(name, compute_devices=devices, parameter_device="CPU:0")
    return tfdist.strategy(name, devices=devices)


ALL = ["one_device-1", "mirrored-1", "mirrored-2", "mirrored-4", "central_storage-2"]


@pytest.fixture(params=ALL)
def strategy(request):
    return strategy_of(request.param)


@pytest.fixture(params=["mirrored-2", "central_storage-2"])
def two_replicas(request):
    return strategy_of(request.param)


@pytest.fixture
def by_name():
    return strategy_of
