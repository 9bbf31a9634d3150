"""Strategies for the cases."""

import pytest
from tests.strategies import strategy_of

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
