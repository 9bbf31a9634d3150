"""Choosing by name: options, the environment, and what is checked before anything starts."""

import sys

import pytest
from core.tests.conftest import OFFERS, PluginSite

import tfdist
from tfdist.errors import (
    OptionError,
    PluginError,
    TensorFlowMissingError,
    UnavailableError,
    UnknownNameError,
)
from tfdist.selection import choose_strategy, cross_device_ops, failure_handler, input_distributor

TARGETS = """
from __future__ import annotations
from typing import TYPE_CHECKING
from collections.abc import Sequence

if TYPE_CHECKING:
    from nowhere import CrossDeviceOps

made = []

class Ring:
    def __init__(
        self,
        devices: Sequence[str] | None = None,
        cross_device_ops: str | CrossDeviceOps | None = None,
        *,
        width: int = 1,
        check: bool = False,
    ) -> None:
        self.options = dict(devices=devices, ops=cross_device_ops, width=width, check=check)
        made.append(self)

class Needy:
    def __init__(self, address: str, port: int = 1) -> None:
        made.append(self)

class Open:
    def __init__(self, depth: int = 0, **rest: object) -> None:
        self.options = dict(depth=depth, **rest)

number = 3
"""

SPECS = """
import tfdist
from tfdist import Capabilities, StrategySpec, CrossDeviceOpsSpec, InputSpec, FailureHandlerSpec

@tfdist.hookimpl
def tfdist_strategies():
    return [
        StrategySpec(name="ring", target="ring_targets:Ring"),
        StrategySpec(name="needy", target="ring_targets:Needy"),
        StrategySpec(name="open", target="ring_targets:Open"),
        StrategySpec(name="number", target="ring_targets:number"),
        StrategySpec(name="absent", target="ring_targets:Absent"),
        StrategySpec(name="failing", target="ring_failing:Ring"),
        StrategySpec(name="without_tf", target="ring_without_tf:Ring"),
        StrategySpec(name="tpu_only", target="ring_targets:Ring",
                     capabilities=Capabilities(devices="TPU", hardware="TPU")),
        StrategySpec(name="with_module", target="ring_targets:Ring",
                     capabilities=Capabilities(modules=["sys", "no_such.module", "nor_this"])),
    ]

@tfdist.hookimpl
def tfdist_cross_device_ops():
    return [CrossDeviceOpsSpec(name="tree", target="ring_targets:Open")]

@tfdist.hookimpl
def tfdist_inputs():
    return [InputSpec(name="shuffled", target="ring_targets:Open")]

@tfdist.hookimpl
def tfdist_failure_handlers():
    return [FailureHandlerSpec(name="restart", target="ring_targets:Open")]
"""


@pytest.fixture
def ring(plugin_site: PluginSite) -> PluginSite:
    plugin_site.add(
        "ring",
        SPECS,
        more={
            "ring_targets": TARGETS,
            "ring_failing": "raise RuntimeError('driver too old')",
            "ring_without_tf": "raise ModuleNotFoundError('no', name='tensorflow')",
        },
    )
    return plugin_site


def _error(spec: str | None, kind: type[Exception] = OptionError, **options: object) -> Exception:
    with pytest.raises(kind) as caught:
        tfdist.strategy(spec, **options)
    if "ring_targets" in sys.modules:
        assert sys.modules["ring_targets"].made == []
    return caught.value


def test_listing_imports_no_target(ring: PluginSite) -> None:
    assert "ring" in [spec.name for spec in tfdist.strategies()]
    assert "ring_targets" not in sys.modules


def test_options_as_arguments(ring: PluginSite) -> None:
    ops = object()
    made = tfdist.strategy("ring", devices=("CPU:0",), cross_device_ops=ops, width=2, check=True)
    assert made.options == {"devices": ("CPU:0",), "ops": ops, "width": 2, "check": True}


def test_options_as_text(ring: PluginSite) -> None:
    made = tfdist.strategy("ring?devices=CPU:0,CPU:1&cross_device_ops=tree&width=2&check=yes")
    assert made.options == {
        "devices": ["CPU:0", "CPU:1"],
        "ops": "tree",
        "width": 2,
        "check": True,
    }


def test_arguments_may_be_text_too(ring: PluginSite) -> None:
    made = tfdist.strategy("ring/ring?check=on", devices="CPU:0,CPU:1", width="3")
    assert made.options == {"devices": ["CPU:0", "CPU:1"], "ops": None, "width": 3, "check": True}


def test_the_environment_is_used_without_a_name(
    ring: PluginSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TFDIST_STRATEGY", "ring?width=4&check=true")
    assert tfdist.strategy().options == {
        "devices": None,
        "ops": None,
        "width": 4,
        "check": True,
    }


def test_arguments_beat_the_environment(ring: PluginSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFDIST_STRATEGY", "ring?width=4&check=true")
    assert tfdist.strategy(width=5).options["width"] == 5
    assert tfdist.strategy(width=5).options["check"] is True
    assert tfdist.strategy("ring").options["width"] == 1
    monkeypatch.setenv("TFDIST_STRATEGY", "no such?thing")
    assert tfdist.strategy("ring").options["width"] == 1


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("ring?width", OptionError),
        ("ring?width=x", OptionError),
        ("rinf", UnknownNameError),
        ("absent", PluginError),
    ],
)
def test_errors_say_that_the_environment_chose(
    ring: PluginSite, monkeypatch: pytest.MonkeyPatch, value: str, kind: type[Exception]
) -> None:
    monkeypatch.setenv("TFDIST_STRATEGY", value)
    text = str(_error(None, kind))
    assert text.endswith(f" This choice came from TFDIST_STRATEGY={value!r}.")


@pytest.mark.parametrize("value", [None, "", "  "])
def test_neither_name_nor_environment(
    ring: PluginSite, monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    if value is not None:
        monkeypatch.setenv("TFDIST_STRATEGY", value)
    assert str(_error(None)) == (
        "No strategy can be made. Neither a name nor the environment variable TFDIST_STRATEGY was "
        "given; expected one of them. Call tfdist.strategy('mirrored'), or set "
        "TFDIST_STRATEGY=mirrored; `tfdist strategies` lists the names."
    )


def test_an_unknown_option(ring: PluginSite) -> None:
    assert str(_error("ring?device=CPU:0")) == (
        "'ring' (ring 1.0) has no option 'device'. It was given as 'CPU:0'; expected devices: "
        "Sequence[str] | None, cross_device_ops: str | CrossDeviceOps | None, width: int, "
        "check: bool. Did you mean 'devices'?"
    )
    assert "has no option 'zzz'" in str(_error("ring", zzz=1))


def test_text_of_the_wrong_type(ring: PluginSite) -> None:
    assert str(_error("ring?width=wide")) == (
        "The option 'width' of 'ring' (ring 1.0) cannot be used. It is 'wide'; expected int. Give "
        "such a value or leave the option out."
    )


@pytest.mark.parametrize(
    "options", [{"devices": 3}, {"width": 2.5}, {"width": None}, {"check": 1}, {"check": "maybe"}]
)
def test_values_of_the_wrong_type(ring: PluginSite, options: dict[str, object]) -> None:
    [(name, value)] = options.items()
    text = str(_error("ring", **options))
    assert f"The option {name!r} of 'ring' (ring 1.0) cannot be used. It is {value!r};" in text


def test_a_missing_option(ring: PluginSite) -> None:
    assert str(_error("needy?port=2")) == (
        "'needy' (ring 1.0) cannot be made. Its option 'address' was not given; expected str. Give "
        "it, as in 'needy?address=...'."
    )


def test_an_option_given_twice(ring: PluginSite) -> None:
    assert str(_error("ring?width=2", width=3)) == (
        "The strategy 'ring' cannot be made. Its option 'width' is given twice, in 'ring?width=2' "
        "and as 3; expected once. Drop one."
    )


def test_targets_that_take_any_option(ring: PluginSite) -> None:
    assert tfdist.strategy("open?depth=2&color=red").options == {"depth": 2, "color": "red"}


@pytest.mark.parametrize("name", [3, ["ring"], object])
def test_names_that_are_no_text(ring: PluginSite, name: str) -> None:
    assert "expected text such as 'name'" in str(_error(name))


def test_targets_that_cannot_be_used(ring: PluginSite) -> None:
    absent = _error("absent", PluginError)
    assert str(absent) == (
        "'absent' of ring 1.0 cannot be used. Its target 'ring_targets:Absent' should be a class; "
        "AttributeError: module 'ring_targets' has no attribute 'Absent'. Repair or upgrade ring."
    )
    assert isinstance(absent.__cause__, AttributeError)
    assert "it is 3, which cannot be called" in str(_error("number", PluginError))
    failing = _error("failing", PluginError)
    assert "RuntimeError: driver too old" in str(failing)
    assert isinstance(failing.__cause__, RuntimeError)


def test_tensorflow_is_missing(ring: PluginSite) -> None:
    error = _error("without_tf", TensorFlowMissingError)
    assert str(error) == (
        "'without_tf' needs TensorFlow, which is not installed: run `pip install "
        "'tfdist[tf-cpu]'`, `'tfdist[tf-cuda]'` for NVIDIA GPUs, or `'tfdist[tf]'`."
    )
    assert isinstance(error, ImportError)


def test_hardware_that_is_not_here(ring: PluginSite) -> None:
    assert str(_error("tpu_only", UnavailableError)) == (
        "'tpu_only' (ring 1.0) cannot be used on this machine. It needs a TPU and TensorFlow sees "
        "none (devices here: CPU). Choose another, or run where that is present; `tfdist doctor` "
        "lists what works here."
    )


def test_modules_that_are_not_here(ring: PluginSite) -> None:
    assert (
        "It needs the Python module 'no_such.module', which is not installed; it needs the Python "
        "module 'nor_this', which is not installed."
    ) in str(_error("with_module", UnavailableError))


def test_a_choice_can_be_looked_at_before_it_is_made(ring: PluginSite) -> None:
    choice = choose_strategy("ring?width=2")
    assert choice.offer.qualified_name == "ring/ring"
    assert choice.options == {"width": 2}
    assert sys.modules["ring_targets"].made == []
    assert choice.make().options["width"] == 2


def test_the_other_parts_by_name(ring: PluginSite) -> None:
    assert cross_device_ops("tree?depth=2").options == {"depth": 2}
    assert cross_device_ops("ring/tree", depth=3).options == {"depth": 3}
    assert failure_handler("restart", depth=4).options == {"depth": 4}
    assert input_distributor("shuffled").__name__ == "Open"
    with pytest.raises(OptionError, match="The option 'depth' of 'tree'"):
        cross_device_ops("tree?depth=x")


def test_a_name_brought_by_two_modules_of_one_folder(plugin_site: PluginSite) -> None:
    plugin_site.add(
        "nested",
        OFFERS.format(name="nested", target="nested_pkg.inner:Outer.Inner"),
        more={
            "nested_pkg.inner": "class Outer:\n    class Inner:\n        def __init__(self): pass"
        },
    )
    assert type(tfdist.strategy("nested")).__qualname__ == "Outer.Inner"
