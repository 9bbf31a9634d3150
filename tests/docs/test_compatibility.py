"""docs/compatibility.md has every public name of TensorFlow, and what it promises is there."""

import inspect
import re
from types import ModuleType

import pytest
import tensorflow as tf
from tests.docs.pages import DOCS

import tfdist
from tfdist.cross_device import CrossDeviceOps
from tfdist.input import DistributedDataset, DistributedIterator
from tfdist.replica.context import ReplicaContext

PAGE = DOCS.joinpath("compatibility.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `([\w.]+)[^`]*`.*?\| ([^|]*) \| ([^|]*) \|$", PAGE, re.MULTILINE)
OURS = {
    "Strategy": tfdist.Strategy,
    "ReplicaContext": ReplicaContext,
    "CrossDeviceOps": CrossDeviceOps,
    "DistributedDataset": DistributedDataset,
    "DistributedIterator": DistributedIterator,
}
SAME = [
    tuple(name.split("."))
    for name, _, note in ROWS
    if name.split(".")[0] in OURS and note.startswith("same")
]


def public_names(module: ModuleType, name: str) -> list[str]:
    """Every public name of a module and of the modules under it."""
    names = []
    for member, value in vars(module).items():
        if member.startswith("_"):
            continue
        names.append(f"{name}.{member}")
        if isinstance(value, ModuleType):
            names += public_names(value, f"{name}.{member}")
    return names


@pytest.mark.parametrize("path", ["distribute", "experimental.dtensor"])
def test_every_public_name_of_tensorflow_is_listed(path):
    module = tf
    for part in path.split("."):
        module = getattr(module, part)
    listed = set(re.findall(r"`(tf\.[\w.]+)", PAGE))
    names = public_names(module, f"tf.{path}")
    assert len(names) > 30
    assert [name for name in names if name not in listed] == []


@pytest.mark.parametrize("kind", ["Strategy", "StrategyExtended", "ReplicaContext"])
def test_every_member_of_the_main_classes_is_listed(kind):
    listed = {name for name, _, _ in ROWS}
    members = [name for name in dir(getattr(tf.distribute, kind)) if not name.startswith("_")]
    assert [name for name in members if f"{kind}.{name}" not in listed] == []


@pytest.mark.parametrize(("kind", "member"), SAME, ids=".".join)
def test_what_is_called_the_same_takes_the_same_arguments(kind, member):
    ours = inspect.getattr_static(OURS[kind], member)
    theirs = inspect.getattr_static(getattr(tf.distribute, kind), member)
    assert isinstance(ours, property) == isinstance(theirs, property)
    if callable(ours):
        assert _parameters(ours) == _parameters(theirs)


def _parameters(function):
    # How often a name comes first, and what it is when left out: what callers rely on.
    parameters = inspect.signature(inspect.unwrap(function)).parameters.values()
    return [(each.name, each.default) for each in parameters]


def test_every_class_of_ours_that_is_named_is_there():
    named = {name for _, ours, _ in ROWS for name in re.findall(r"`(tfdist\w*\.[\w.]+)`", ours)}
    assert len(named) > 8
    for name in sorted(named):
        package, _, attribute = name.rpartition(".")
        assert hasattr(__import__(package, fromlist=[attribute]), attribute), name
