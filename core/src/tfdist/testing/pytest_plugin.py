"""The pytest plugin of tfdist: virtual devices and leak guards for those who ask for them.

It is loaded wherever tfdist is installed, so it does nothing unless the project's pytest settings
turn it on, and it imports TensorFlow for nobody:

    tfdist_virtual_devices = 8
    tfdist_guards = threads processes environment ports
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tfdist.testing.virtual_devices import cpu_device_names, set_virtual_cpu_devices_on_import

_MARKER = "tfdist_leaves(*names): this test may leave threads, processes, environment or ports"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the two settings."""
    parser.addini(
        "tfdist_virtual_devices",
        "how many CPU devices TensorFlow shows in this process (0: leave it alone)",
        default="0",
    )
    parser.addini(
        "tfdist_guards",
        "what a test must not leave behind: threads, processes, environment, ports",
        type="args",
        default=[],
    )


def pytest_configure(config: pytest.Config) -> None:
    """Set up the devices, for the moment when TensorFlow is imported."""
    config.addinivalue_line("markers", _MARKER)
    count = int(config.getini("tfdist_virtual_devices"))
    if count:
        set_virtual_cpu_devices_on_import(count)


@pytest.fixture(autouse=True)
def _tfdist_guards(request: pytest.FixtureRequest) -> Iterator[None]:
    names = set(request.config.getini("tfdist_guards"))
    for marker in request.node.iter_markers("tfdist_leaves"):
        names -= set(marker.args)
    if not names:
        yield
        return
    from tfdist.testing.guards import no_leaks  # psutil: only where a guard is on

    with no_leaks(*sorted(names)):
        yield


@pytest.fixture(scope="session")
def virtual_devices(pytestconfig: pytest.Config) -> list[str]:
    """The names of all virtual CPU devices of this process."""
    return cpu_device_names(int(pytestconfig.getini("tfdist_virtual_devices")) or 1)


@pytest.fixture(scope="session")
def cpu_devices(virtual_devices: list[str]) -> Callable[[int], list[str]]:
    """A function from a count to the names of that many virtual CPU devices."""

    def first(count: int) -> list[str]:
        if count > len(virtual_devices):
            pytest.fail(
                f"{count} CPU devices are needed; the pytest setting tfdist_virtual_devices "
                f"gives {len(virtual_devices)}"
            )
        return virtual_devices[:count]

    return first
