"""What a name stands for, and what people are told when it stands for nothing."""

import pytest
from core.tests.conftest import OFFERS, PluginSite

import tfdist
from tfdist import plugins
from tfdist.errors import PluginError, UnknownNameError
from tfdist.plugins import Offer
from tfdist.selection.names import find
from tfdist.specs import CrossDeviceOpsSpec, StrategySpec
from tfdist.testing.distributions import write_distribution


def _find(name: str) -> Offer[StrategySpec]:
    return find(plugins.current(), StrategySpec, name)


def _error(name: str, kind: type[Exception] = UnknownNameError) -> Exception:
    with pytest.raises(kind) as caught:
        _find(name)
    return caught.value


def test_plain_names_aliases_and_qualified_names(plugin_site: PluginSite) -> None:
    plugin_site.offer("Vendor.Mesh", "ring")
    assert _find("one_device").plugin.distribution == "tfdist"
    assert _find("onedevice").spec.name == "one_device"
    assert _find("tfdist/one_device").spec.name == "one_device"
    for spelling in ("ring", "Vendor.Mesh/ring", "vendor-mesh/ring", "vendor_mesh/ring"):
        assert _find(spelling).qualified_name == "Vendor.Mesh/ring"


def test_two_distributions_claim_one_name(plugin_site: PluginSite) -> None:
    plugin_site.offer("vendor-a", "ring", version="1.2")
    plugin_site.offer("vendor-b", "ring", version="3.4")
    assert str(_error("ring", PluginError)) == (
        "The strategy 'ring' cannot be chosen by that name. It is claimed by vendor-a 1.2 and "
        "vendor-b 3.4; one distribution was expected. Ask for 'vendor-a/ring' or 'vendor-b/ring', "
        "or uninstall one of them."
    )
    assert _find("vendor-b/ring").plugin.version == "3.4"
    assert [spec.name for spec in tfdist.strategies()] == ["one_device", "ring", "ring"]


def test_a_name_of_the_core_cannot_be_taken_silently(plugin_site: PluginSite) -> None:
    plugin_site.offer("vendor-a", "one_device")
    error = _error("one_device", PluginError)
    assert "tfdist" in str(error)
    assert "'tfdist/one_device' or 'vendor-a/one_device'" in str(error)
    assert _find("tfdist/one_device").plugin.distribution == "tfdist"


def test_one_distribution_with_two_plugins_that_claim_one_name(plugin_site: PluginSite) -> None:
    source = OFFERS.format(name="ring", target="x:Y")
    write_distribution(
        plugin_site.path,
        "vendor-a",
        modules={"va": source, "vb": source},
        entry_points={"a": "va", "b": "vb"},
    )
    assert str(_error("ring", PluginError)) == (
        "The strategy 'ring' cannot be chosen. vendor-a 1.0 offers it 2 times; once was expected. "
        "Repair or upgrade vendor-a."
    )


def test_an_installed_plugin_that_lacks_a_known_name(plugin_site: PluginSite) -> None:
    plugin_site.offer("tfdist-plugin-mirrored", "mirrored")
    assert "There is no strategy 'central_storage'. The installed" in str(_error("central_storage"))


def test_a_qualified_name_of_a_known_distribution(plugin_site: PluginSite) -> None:
    assert "Run `pip install tfdist-plugin-tpu`." in str(_error("tfdist-plugin-tpu/tpu"))


def test_a_typo_suggests(plugin_site: PluginSite) -> None:
    plugin_site.offer("vendor-a", "ring_mesh")
    assert str(_error("ringmesh")) == (
        "There is no strategy 'ringmesh'. The installed plugins offer 'one_device', 'onedevice' or "
        "'ring_mesh'. Did you mean 'ring_mesh'?"
    )


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("One_Device", "one_device"),
        ("mirored", "mirrored"),
        ("MirroredStrategy", "mirrored"),
        ("multi_worker", "multiworker"),
        ("tfdist/onedevices", "tfdist/one_device"),
    ],
)
def test_typos_of_names_that_may_not_be_installed(
    plugin_site: PluginSite, name: str, meant: str
) -> None:
    assert f"Did you mean '{meant}'" in str(_error(name))


def test_nothing_near(plugin_site: PluginSite) -> None:
    assert str(_error("xyzzy")) == (
        "There is no strategy 'xyzzy'. The installed plugins offer 'one_device' or 'onedevice'. "
        "Choose one of these, or install its plugin."
    )


@pytest.mark.parametrize(
    ("name", "distribution"),
    [
        ("multi_worker_mirrored", "tfdist-plugin-multiworker"),
        ("multiworker", "tfdist-plugin-multiworker"),
        ("parameter_server", "tfdist-plugin-ps"),
        ("ps", "tfdist-plugin-ps"),
        ("tpu", "tfdist-plugin-tpu"),
        ("dtensor", "tfdist-plugin-dtensor"),
    ],
)
def test_known_names_say_what_to_install(
    plugin_site: PluginSite, name: str, distribution: str
) -> None:
    assert str(_error(name)) == (
        f"The strategy '{name}' is not installed. It is brought by {distribution}, which is not "
        f"among the installed plugins. Run `pip install {distribution}`."
    )


@pytest.mark.parametrize("name", ["mirrored", "central_storage"])
def test_a_known_name_whose_plugin_is_switched_off(
    plugin_site: PluginSite, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("TFDIST_DISABLE_PLUGINS", "tfdist-plugin-mirrored")
    plugin_site.add("tfdist-plugin-mirrored", "", version="9.9")
    assert str(_error(name, PluginError)) == (
        f"The strategy '{name}' cannot be used. It is brought by tfdist-plugin-mirrored 9.9, "
        "which is disabled: switched off by TFDIST_DISABLE_PLUGINS. Change that variable to use "
        "it."
    )


def test_cross_device_ops_have_names_of_their_own(plugin_site: PluginSite) -> None:
    with pytest.raises(UnknownNameError, match="There is no cross-device op 'one_device'"):
        find(plugins.current(), CrossDeviceOpsSpec, "one_device")
    with pytest.raises(UnknownNameError, match="pip install tfdist-plugin-multiworker"):
        find(plugins.current(), CrossDeviceOpsSpec, "mpi")


def test_the_strategy_of_a_broken_plugin(plugin_site: PluginSite) -> None:
    plugin_site.add("ring", "raise OSError('no ring here')", version="0.3")
    for name in ("ring", "ring/anything"):
        error = _error(name, PluginError)
        assert str(error) == (
            f"The strategy '{name}' cannot be used. It is brought by ring 0.3, which is broken: "
            "OSError: no ring here. Repair or uninstall it; `tfdist plugins` shows how every "
            "plugin stands."
        )
        assert isinstance(error.__cause__, OSError)


def test_a_name_that_only_a_broken_plugin_can_bring(plugin_site: PluginSite) -> None:
    plugin_site.add("vendor-bad", "raise OSError('no ring here')")
    error = _error("star", PluginError)
    assert "It may be brought by vendor-bad 1.0, which is broken: OSError" in str(error)
    assert isinstance(error.__cause__, OSError)


def test_a_typo_beside_a_broken_plugin(plugin_site: PluginSite) -> None:
    plugin_site.add("vendor-bad", "raise OSError('no ring here')")
    error = _error("one_devic")
    assert "Did you mean 'one_device'" in str(error)
    assert "vendor-bad 1.0 is broken: OSError: no ring here." in str(error)
    assert isinstance(error.__cause__, OSError)


def test_the_strategy_of_an_incompatible_plugin(plugin_site: PluginSite) -> None:
    plugin_site.add("ring", "", api="9.0", version="5.0")
    error = _error("ring", PluginError)
    assert "which is incompatible: ring 5.0 does not fit this tfdist." in str(error)
    assert "pip install --upgrade tfdist" in str(error)
