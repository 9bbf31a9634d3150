"""The package itself: light to import, and the same names to people, tools and type checkers."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import tfdist

HEAVY = ("tensorflow", "keras", "grpc", "numpy", "google.protobuf", "cattrs", "rich", "click")

# As on a machine that has none: its first import fails, whoever tries.
WITHOUT_TENSORFLOW = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "tensorflow":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
"""


def run(code: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    return result.stdout.strip()


def test_import_and_listing_load_nothing_heavy() -> None:
    code = (
        "import sys, tfdist; tfdist.strategies(); tfdist.hookimpl; tfdist.errors; "
        "tfdist.__version__; tfdist.StrategySpec; "
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    assert run(code) == "[]"


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(Path(str(tfdist.__file__)).read_text())
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {
        alias.asname or alias.name
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert (seen - {"VERSION"}) | {"__version__"} == set(tfdist.__all__)


def test_an_unknown_name() -> None:
    with pytest.raises(AttributeError, match="module 'tfdist' has no attribute 'mirrored'"):
        tfdist.mirrored  # noqa: B018


@pytest.mark.parametrize("name", ["Mirrored", "PerReplica", "CrossDeviceOps"])
def test_classes_without_tensorflow(name: str) -> None:
    code = (
        f"{WITHOUT_TENSORFLOW}import tfdist\n"
        f"try:\n    tfdist.{name}\n"
        "except tfdist.errors.TensorFlowMissingError as error:\n    print(error)"
    )
    assert run(code).startswith(f"tfdist.{name} needs TensorFlow, which is not installed: run")
