"""Finding plugins through the metadata of installed distributions."""

import shutil
import sys
from pathlib import Path

import pytest
from core.tests.conftest import OFFERS, PluginSite

from tfdist import plugins
from tfdist.plugins import discovery
from tfdist.testing.distributions import write_distribution


def _found(name: str) -> list[discovery.Found]:
    return [plugin for plugin in discovery.installed() if plugin.distribution == name]


def test_metadata_is_read_and_nothing_is_imported(plugin_site: PluginSite) -> None:
    module = plugin_site.add("vendor-one", "raise SystemExit", version="3.4", api="1.0-1.2")
    [plugin] = _found("vendor-one")
    assert (plugin.version, plugin.declared_api, plugin.editable) == ("3.4", "1.0-1.2", False)
    assert plugin.entry_point.value == module
    assert module not in sys.modules


def test_no_declaration_is_seen(plugin_site: PluginSite) -> None:
    plugin_site.add("vendor-one", "", api=None)
    [plugin] = _found("vendor-one")
    assert plugin.declared_api is None


def test_one_distribution_with_two_plugins(plugin_site: PluginSite) -> None:
    write_distribution(
        plugin_site.path, "vendor-two", modules={}, entry_points={"b": "vb", "a": "va"}
    )
    assert [plugin.entry_point.name for plugin in _found("vendor-two")] == ["a", "b"]


def test_the_same_distribution_twice_on_the_path_counts_once(
    plugin_site: PluginSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin_site.add("vendor-one", "", version="1.0")
    shutil.copytree(plugin_site.path, tmp_path / "again")
    newer = tmp_path / "newer"
    write_distribution(
        newer, "Vendor_One", modules={}, entry_points={"vendor-one": "x"}, version="2.0"
    )
    monkeypatch.syspath_prepend(tmp_path / "again")
    assert [plugin.version for plugin in _found("vendor-one")] == ["1.0"]
    monkeypatch.syspath_prepend(newer)
    assert _found("vendor-one") == []
    assert [plugin.version for plugin in _found("Vendor_One")] == ["2.0"]


def test_a_copy_without_plugins_that_is_earlier_on_the_path_counts(
    plugin_site: PluginSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin_site.add("vendor-one", "")
    info = write_distribution(tmp_path / "first", "vendor-one", modules={}, entry_points={})
    info.joinpath("entry_points.txt").unlink()
    monkeypatch.syspath_prepend(tmp_path / "first")
    assert _found("vendor-one") == []


def test_metadata_without_a_name_is_left_out(plugin_site: PluginSite) -> None:
    info = write_distribution(plugin_site.path, "nameless", modules={}, entry_points={"a": "b"})
    info.joinpath("METADATA").write_text("Metadata-Version: 2.1\n\n")
    plugin_site.offer("vendor-one", "one")
    assert len(_found("vendor-one")) == 1
    assert "one" in [spec.name for spec in _strategies()]


def test_an_editable_install_is_marked(plugin_site: PluginSite, tmp_path: Path) -> None:
    write_distribution(
        plugin_site.path, "ed", modules={"ed": ""}, entry_points={"ed": "ed"}, source=tmp_path / "s"
    )
    [plugin] = _found("ed")
    assert plugin.editable


@pytest.mark.parametrize("origin", ["not json", '{"url": "x"}', '{"dir_info": {}}'])
def test_origins_that_are_not_editable(plugin_site: PluginSite, origin: str) -> None:
    plugin_site.offer("vendor-one", "one")
    [info] = plugin_site.path.glob("*.dist-info")
    info.joinpath("direct_url.json").write_text(origin)
    [plugin] = _found("vendor-one")
    assert not plugin.editable


def test_what_is_installed_later_is_seen_after_a_refresh(plugin_site: PluginSite) -> None:
    plugin_site.offer("vendor-one", "one")
    assert "one" in [spec.name for spec in _strategies()]
    write_distribution(
        plugin_site.path,
        "vendor-two",
        modules={"later": OFFERS.format(name="two", target="x:Y")},
        entry_points={"two": "later"},
    )
    assert "two" not in [spec.name for spec in _strategies()]
    plugins.refresh()
    assert "two" in [spec.name for spec in _strategies()]


def _strategies() -> list[plugins.Offer]:
    from tfdist.specs import StrategySpec

    return [offer.spec for offer in plugins.current().offers(StrategySpec)]
