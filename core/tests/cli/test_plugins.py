"""`tfdist plugins` and `tfdist strategies`."""

from core.tests.cli.conftest import Tfdist
from core.tests.conftest import PluginSite

import tfdist

OWN_HOOKS = "strategies, cross_device_ops, inputs, failure_handlers, commands"


def test_the_table(plugin_site: PluginSite, tfdist_command: Tfdist) -> None:
    plugin_site.offer("vendor-a", "ring", version="1.2")
    plugin_site.add("vendor-bad", "raise OSError('driver [7] too old')", version="0.7")
    plugin_site.add("vendor-new", "", version="9.0", api="9.0")
    shown = tfdist_command("plugins")
    assert (shown.code, shown.err) == (0, "")
    rows = [line.split(maxsplit=5) for line in shown.lines[2:6]]
    assert rows == [
        ["builtin", "tfdist", tfdist.__version__, "1.0", "loaded", OWN_HOOKS],
        ["vendor-a", "vendor-a", "1.2", "1.0", "loaded", "strategies"],
        ["vendor-bad", "vendor-bad", "0.7", "1.0", "broken"],
        ["vendor-new", "vendor-new", "9.0", "9.0", "incompatible"],
    ]
    assert shown.lines[6:] == [
        "",
        "vendor-bad (vendor-bad 0.7) is broken: OSError: driver [7] too old",
        "",
        (
            "vendor-new (vendor-new 9.0) is incompatible: vendor-new 9.0 does not fit this tfdist. "
            "It was built for plugin API 9.0-9.x, and this tfdist has 1.0. Upgrade tfdist (`pip "
            "install --upgrade tfdist`), or install releases of both that agree."
        ),
    ]


def test_json(plugin_site: PluginSite, tfdist_command: Tfdist) -> None:
    plugin_site.offer("vendor-a", "ring", version="1.2")
    plugin_site.add("vendor-bad", "raise OSError('too old')", version="0.7", api=None)
    shown = tfdist_command("plugins", "--json").json
    assert [plugin["name"] for plugin in shown] == ["builtin", "vendor-a", "vendor-bad"]
    assert shown[1] == {
        "name": "vendor-a",
        "distribution": "vendor-a",
        "version": "1.2",
        "api_range": "1.0",
        "hooks": ["tfdist_strategies"],
        "state": "loaded",
        "error": None,
        "editable": False,
    }
    assert (shown[2]["state"], shown[2]["api_range"]) == ("incompatible", None)
    assert shown[2]["error"].startswith("vendor-bad 0.7 does not say which plugin API")


def test_strategies(plugin_site: PluginSite, tfdist_command: Tfdist) -> None:
    plugin_site.offer("vendor-a", "ring", version="1.2")
    plugin_site.offer("vendor-b", "ring", version="3.4")
    shown = tfdist_command("strategies")
    assert (shown.code, shown.err) == (0, "")
    assert [line.split(maxsplit=3) for line in shown.lines[3:5]] == [
        ["vendor-a/ring", "vendor-a", "1.2", "made for a test"],
        ["vendor-b/ring", "vendor-b", "3.4", "made for a test"],
    ]
    assert "one_device, onedevice" in shown.out
    assert "reduction_to_one_device" in shown.out


def test_strategies_as_json(plugin_site: PluginSite, tfdist_command: Tfdist) -> None:
    shown = tfdist_command("strategies", "--json").json
    [one] = shown["strategies"]
    assert (one["name"], one["aliases"], one["distribution"]) == (
        "one_device",
        ["onedevice"],
        "tfdist",
    )
    assert one["capabilities"]["devices"] == ["CPU", "GPU"]
    assert [ops["name"] for ops in shown["cross_device_ops"]] == ["reduction_to_one_device"]
