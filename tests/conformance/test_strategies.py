from collections.abc import Callable
from typing import Any

import pytest

from tfdist.testing.conformance import StrategyConformance


class TestOneDevice(StrategyConformance):
    name = "one_device"
    replica_counts = (1,)

    @pytest.fixture
    def strategy_options(self) -> dict[str, Any]:
        return {"device": "CPU:1"}


class TestMirrored(StrategyConformance):
    name = "mirrored"


class TestCentralStorage(StrategyConformance):
    name = "central_storage"

    @pytest.fixture
    def strategy_options(
        self, replica_count: int, cpu_devices: Callable[[int], list[str]]
    ) -> dict[str, Any]:
        return {"compute_devices": cpu_devices(replica_count), "parameter_device": "CPU:0"}
