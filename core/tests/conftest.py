"""Fixtures of the kernel's tests: a folder of installed plugins that the tests fill."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from attrs import frozen

from tfdist import plugins
from tfdist.plugins import discovery
from tfdist.testing.distributions import write_distribution

OFFERS = """
import tfdist

@tfdist.hookimpl
def tfdist_strategies():
    return [tfdist.StrategySpec(name={name!r}, target={target!r}, summary="made for a test")]
"""


@frozen
class PluginSite:
    """A folder on `sys.path` in which plugins are installed."""

    path: Path

    def add(
        self,
        distribution: str,
        source: str,
        *,
        version: str = "1.0",
        api: str | None = "1.0",
        more: Mapping[str, str] | None = None,
    ) -> str:
        """Install a plugin whose entry point and module are named after its distribution."""
        module = distribution.replace("-", "_")
        write_distribution(
            self.path,
            distribution,
            modules={module: source, **(more or {})},
            entry_points={distribution: module},
            version=version,
            api=api,
        )
        plugins.refresh()
        return module

    def offer(
        self, distribution: str, name: str, target: str = "nowhere:Nothing", version: str = "1.0"
    ) -> None:
        """Install a plugin that offers one strategy."""
        self.add(distribution, OFFERS.format(name=name, target=target), version=version)


@pytest.fixture
def plugin_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PluginSite]:
    """Where a test installs plugins; only these and the core's own are seen meanwhile."""
    found = discovery.distributions
    monkeypatch.setattr(
        discovery,
        "distributions",
        lambda: (each for each in found() if str(tmp_path) in str(each.locate_file("."))),
    )
    site = PluginSite(tmp_path / "site")
    site.path.mkdir()
    before = set(sys.modules)
    monkeypatch.syspath_prepend(site.path)
    monkeypatch.delenv("TFDIST_DISABLE_PLUGINS", raising=False)
    monkeypatch.delenv("TFDIST_PLUGIN_AUTOLOAD", raising=False)
    monkeypatch.delenv("TFDIST_STRATEGY", raising=False)
    plugins.refresh()
    yield site
    for name in set(sys.modules) - before:
        if str(site.path) in str(getattr(sys.modules[name], "__file__", None)):
            del sys.modules[name]
    plugins.refresh()
