"""The records that plugins hand over."""

import attrs
import pytest

from tfdist.specs import Capabilities, CrossDeviceOpsSpec, StrategySpec


def test_specs_are_frozen() -> None:
    spec = StrategySpec(name="a", target="b:C")
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        spec.name = "b"  # type: ignore[misc]
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        spec.capabilities.export = False  # type: ignore[misc]


def test_one_string_counts_as_one_item() -> None:
    spec = StrategySpec(
        name="a",
        target="b:C",
        roles="worker",
        aliases="z",
        capabilities=Capabilities(devices="GPU"),
    )
    assert (spec.roles, spec.names, spec.capabilities.devices) == (
        ("worker",),
        ("a", "z"),
        ("GPU",),
    )


def test_lists_become_tuples() -> None:
    spec = StrategySpec(name="a", target="b:C", aliases=["x", "y"])
    assert spec.names == ("a", "x", "y")
    assert hash(spec) == hash(StrategySpec(name="a", target="b:C", aliases=("x", "y")))


@pytest.mark.parametrize("name", ["", "two words", "a/b", "a?b", "9a", None])
def test_names_that_cannot_be(name: str) -> None:
    with pytest.raises(ValueError, match=r"StrategySpec\.name is .*; expected letters"):
        StrategySpec(name=name, target="b:C")
    with pytest.raises(ValueError, match=r"StrategySpec\.aliases is"):
        StrategySpec(name="a", target="b:C", aliases=(name,))


@pytest.mark.parametrize("target", ["", "module", "module.Class", ":Class", "module:", "a b:C"])
def test_targets_that_cannot_be(target: str) -> None:
    with pytest.raises(ValueError, match=r"target is .*; expected 'package.module:ClassName'"):
        StrategySpec(name="a", target=target)


def test_kind_of_cross_device_ops() -> None:
    assert CrossDeviceOpsSpec(name="a", target="b:C", kind="spmd").kind == "spmd"
    with pytest.raises(ValueError, match="expected 'graph' or 'spmd'"):
        CrossDeviceOpsSpec(name="a", target="b:C", kind="tree")
