"""Strategies for the Keras tests, built once."""

import functools

import pytest

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


@pytest.fixture(params=["mirrored-2", "mirrored-4", "central_storage-2"])
def strategy(request):
    return strategy_of(request.param)


@pytest.fixture(params=["mirrored-4", "central_storage-2"])
def spread(request):
    """For tests with many parameters: an empty share each, and one copy of each variable."""
    return strategy_of(request.param)


@pytest.fixture
def mirrored():
    return strategy_of("mirrored-2")


@pytest.fixture(params=["one_device-1", "mirrored-1", "mirrored-2", "central_storage-2"])
def any_strategy(request):
    return strategy_of(request.param)
