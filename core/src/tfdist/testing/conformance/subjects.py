"""How a suite gets the thing that it tests: by name, as users get it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import pytest

import tfdist
from tfdist import plugins
from tfdist.selection import cross_device_ops, names
from tfdist.specs import CrossDeviceOpsSpec, StrategySpec
from tfdist.testing.conformance.helpers import MODES


class StrategySubject:
    """The fixtures of the strategy suite, and what a plugin sets.

    Attributes:
        name: The strategy's name; qualified as `dist-name/strategy-name` where two have it.
        replica_counts: With how many replicas each test runs.
    """

    name: ClassVar[str]
    replica_counts: ClassVar[tuple[int, ...]] = (1, 2, 4)

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run each test with each replica count, and, if it asks, eagerly and in a graph."""
        _each(metafunc, "replica_count", self.replica_counts, "{}-replicas")
        _each(metafunc, "mode", MODES, "{}")

    @pytest.fixture
    def spec(self) -> StrategySpec:
        """The record by which the plugin offers the strategy."""
        return names.find(plugins.current(), StrategySpec, self.name).spec

    @pytest.fixture
    def strategy_options(
        self, replica_count: int, cpu_devices: Callable[[int], list[str]]
    ) -> dict[str, Any]:
        """The options with which the strategy gets `replica_count` replicas; override it."""
        return {"devices": cpu_devices(replica_count)}

    @pytest.fixture
    def strategy(self, strategy_options: dict[str, Any]) -> Any:
        """The strategy under test."""
        return tfdist.strategy(self.name, **strategy_options)


class CrossDeviceOpsSubject:
    """The fixtures of the suite for cross-device ops, and what a plugin sets.

    Attributes:
        name: The name of the cross-device op.
        device_counts: Over how many devices each test runs.
    """

    name: ClassVar[str]
    device_counts: ClassVar[tuple[int, ...]] = (1, 2, 4)

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run each test over each number of devices, and, if it asks, eagerly and in a graph."""
        _each(metafunc, "device_count", self.device_counts, "{}-devices")
        _each(metafunc, "mode", MODES, "{}")

    @pytest.fixture
    def spec(self) -> CrossDeviceOpsSpec:
        """The record by which the plugin offers the op."""
        return names.find(plugins.current(), CrossDeviceOpsSpec, self.name).spec

    @pytest.fixture
    def devices(
        self, device_count: int, cpu_devices: Callable[[int], list[str]]
    ) -> tuple[str, ...]:
        """The devices that hold the values; override it for others than CPUs."""
        return tuple(cpu_devices(device_count))

    @pytest.fixture
    def options(self) -> dict[str, Any]:
        """The options of the op; override it."""
        return {}

    @pytest.fixture
    def ops(self, options: dict[str, Any]) -> Any:
        """The cross-device op under test."""
        return cross_device_ops(self.name, **options)


def _each(metafunc: pytest.Metafunc, argument: str, values: Sequence[object], text: str) -> None:
    if argument in metafunc.fixturenames:
        metafunc.parametrize(argument, values, ids=[text.format(value) for value in values])
