"""Strategies for the Keras tests."""

import pytest
from tests.strategies import strategy_of


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
