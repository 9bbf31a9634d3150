"""Loading plugins: what each failure looks like, and that it harms nobody else."""

import sys

import pytest
from core.tests.conftest import PluginSite

import tfdist
from tfdist import plugins
from tfdist.errors import OptionError
from tfdist.plugins import PluginInfo, PluginState
from tfdist.specs import CommandSpec, CrossDeviceOpsSpec, FailureHandlerSpec, InputSpec


def _info(distribution: str) -> PluginInfo:
    [info] = [each for each in plugins.current().plugins if each.distribution == distribution]
    return info


def _names() -> list[str]:
    return [spec.name for spec in tfdist.strategies()]


def test_the_core_offers_its_own_through_the_same_hooks(plugin_site: PluginSite) -> None:
    info = _info("tfdist")
    assert (info.name, info.state, info.version) == (
        "builtin",
        PluginState.LOADED,
        tfdist.__version__,
    )
    assert info.hooks == (
        "tfdist_strategies",
        "tfdist_cross_device_ops",
        "tfdist_inputs",
        "tfdist_failure_handlers",
        "tfdist_commands",
    )
    assert _names() == ["one_device"]
    assert [o.spec.name for o in plugins.current().offers(CrossDeviceOpsSpec)] == [
        "reduction_to_one_device"
    ]


def test_a_plugin_with_every_hook(plugin_site: PluginSite) -> None:
    plugin_site.add(
        "vendor-all",
        """
import tfdist
from tfdist import StrategySpec, CrossDeviceOpsSpec, InputSpec, FailureHandlerSpec, CommandSpec

@tfdist.hookimpl
def tfdist_strategies():
    yield StrategySpec(name="s", target="v:S", aliases="s2")

@tfdist.hookimpl
def tfdist_cross_device_ops():
    return (CrossDeviceOpsSpec(name="c", target="v:C"),)

@tfdist.hookimpl
def tfdist_inputs():
    return [InputSpec(name="i", target="v:I")]

@tfdist.hookimpl
def tfdist_failure_handlers():
    return [FailureHandlerSpec(name="f", target="v:F", events=["preemption"])]

@tfdist.hookimpl
def tfdist_commands():
    return [CommandSpec(name="cmd", target="v:cmd")]
""",
    )
    registry = plugins.current()
    assert _names() == ["one_device", "s"]
    for kind, name in (
        (CrossDeviceOpsSpec, "c"),
        (InputSpec, "i"),
        (FailureHandlerSpec, "f"),
        (CommandSpec, "cmd"),
    ):
        [offer] = [each for each in registry.offers(kind) if each.spec.name == name]
        assert offer.plugin == _info("vendor-all")
        assert offer.qualified_name == f"vendor-all/{name}"
    assert "v" not in sys.modules


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("import no_such_module_at_all", "ModuleNotFoundError: No module named 'no_such_module"),
        ("raise ValueError('on\\n  two lines')", "ValueError: on two lines"),
        ("raise SystemExit", "SystemExit"),
        ("1 +", "SyntaxError: invalid syntax"),
        (
            "import tfdist\n@tfdist.hookimpl\ndef tfdist_strategies():\n    1 / 0",
            "ZeroDivisionError: division by zero",
        ),
        (
            "import tfdist\n@tfdist.hookimpl\ndef tfdist_strategies():\n    return 3",
            "TypeError: tfdist_strategies returned 3; expected a list of StrategySpec",
        ),
        (
            "import tfdist\n@tfdist.hookimpl\ndef tfdist_strategies():\n    return ['mirrored']",
            "TypeError: tfdist_strategies returned 'mirrored' in its list; expected StrategySpec",
        ),
        (
            (
                "import tfdist\n@tfdist.hookimpl\ndef tfdist_inputs():\n"
                "    return [tfdist.StrategySpec(name='a', target='b:C')]"
            ),
            "TypeError: tfdist_inputs returned StrategySpec(name='a'",
        ),
        (
            (
                "import tfdist\n@tfdist.hookimpl\ndef tfdist_strategies():\n"
                "    a = tfdist.StrategySpec(name='a', target='b:C', aliases='x')\n"
                "    b = tfdist.StrategySpec(name='x', target='b:C')\n    return [a, b]"
            ),
            "ValueError: tfdist_strategies returned two offers named 'x'",
        ),
        (
            "import tfdist\n@tfdist.hookimpl\ndef tfdist_strategies(device):\n    return []",
            (
                "PluginValidationError: Plugin 'vendor-bad:vendor-bad' for hook "
                "'tfdist_strategies' hookimpl definition: tfdist_strategies(device)"
            ),
        ),
        (
            "import tfdist\n@tfdist.hookimpl\ndef tfdist_strategy():\n    return []",
            "PluginValidationError: unknown hook 'tfdist_strategy'",
        ),
    ],
)
def test_broken_plugins(plugin_site: PluginSite, source: str, error: str) -> None:
    plugin_site.offer("vendor-a", "a")
    plugin_site.add("vendor-bad", source, version="0.7")
    plugin_site.offer("vendor-z", "z")
    info = _info("vendor-bad")
    assert (info.state, info.version) == (PluginState.BROKEN, "0.7")
    assert info.error is not None
    assert info.error.startswith(error)
    assert isinstance(info.cause, BaseException)
    assert _names() == ["a", "one_device", "z"]


def test_a_hook_that_fails_keeps_out_all_offers_of_its_plugin(plugin_site: PluginSite) -> None:
    plugin_site.add(
        "vendor-half",
        "import tfdist\n@tfdist.hookimpl\ndef tfdist_strategies():\n"
        "    return [tfdist.StrategySpec(name='half', target='b:C')]\n"
        "@tfdist.hookimpl\ndef tfdist_inputs():\n    raise KeyError('x')",
    )
    assert _info("vendor-half").state is PluginState.BROKEN
    assert _names() == ["one_device"]


def test_incompatible_plugins_are_listed_and_never_imported(plugin_site: PluginSite) -> None:
    module = plugin_site.add("vendor-new", "raise SystemExit", version="9.0", api="9.0")
    silent = plugin_site.add("vendor-silent", "raise SystemExit", api=None)
    new, unsaid = _info("vendor-new"), _info("vendor-silent")
    assert (new.state, new.api_range) == (PluginState.INCOMPATIBLE, "9.0")
    assert "pip install --upgrade tfdist" in str(new.error)
    assert (unsaid.state, unsaid.api_range) == (PluginState.INCOMPATIBLE, None)
    assert not {module, silent} & set(sys.modules)


def test_switching_all_off(plugin_site: PluginSite, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin_site.offer("vendor-a", "a")
    assert "a" in _names()
    sys.modules.pop("vendor_a")
    monkeypatch.setenv("TFDIST_PLUGIN_AUTOLOAD", "0")
    assert _names() == ["one_device"]
    assert _info("vendor-a").state is PluginState.DISABLED
    assert _info("vendor-a").error == (
        "loading of plugins is switched off by TFDIST_PLUGIN_AUTOLOAD=0"
    )
    assert "vendor_a" not in sys.modules
    monkeypatch.setenv("TFDIST_PLUGIN_AUTOLOAD", "1")
    assert "a" in _names()


@pytest.mark.parametrize("disabled", ["vendor-a", " Vendor_A ", "x,vendor.a", "vendor-a,vendor-a"])
def test_switching_some_off(
    plugin_site: PluginSite, monkeypatch: pytest.MonkeyPatch, disabled: str
) -> None:
    plugin_site.offer("vendor-a", "a")
    plugin_site.offer("vendor-b", "b")
    monkeypatch.setenv("TFDIST_DISABLE_PLUGINS", disabled)
    assert _names() == ["b", "one_device"]
    assert _info("vendor-a").error == "switched off by TFDIST_DISABLE_PLUGINS"


def test_a_switch_that_cannot_be_read(
    plugin_site: PluginSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TFDIST_PLUGIN_AUTOLOAD", "off")
    with pytest.raises(OptionError) as caught:
        tfdist.strategies()
    assert str(caught.value) == (
        "TFDIST_PLUGIN_AUTOLOAD cannot be read. It is 'off'; expected 0 or 1. Set it to 0 to load "
        "no plugins, or unset it."
    )


def test_hooks_are_called_once(plugin_site: PluginSite) -> None:
    module = plugin_site.add(
        "vendor-counts",
        "import tfdist\ncalls = []\n@tfdist.hookimpl\ndef tfdist_strategies():\n"
        "    calls.append(1)\n    return []",
    )
    for _ in range(3):
        tfdist.strategies()
        plugins.current()
    assert sys.modules[module].calls == [1]
