"""Import rules that import-linter cannot see: it knows of other packages, not of their modules."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [ROOT / "core" / "src", *sorted(ROOT.glob("plugins/*/src"))]
FILES = [path for source in SOURCES for path in sorted(source.rglob("*.py"))]
SEAM = ROOT / "core" / "src" / "tfdist" / "tf_internals"

# Must load where TensorFlow is not installed.
LIGHT_MODULES = [
    "tfdist",
    "tfdist.builtin",
    "tfdist.cli",
    "tfdist.errors",
    "tfdist.hookspecs",
    "tfdist.plugins",
    "tfdist.selection",
    "tfdist.specs",
    "tfdist.testing",
    "tfdist.testing.pytest_plugin",
    "tfdist_plugin_mirrored",
    "tfdist_plugin_mirrored.plugin",
]


def imported_modules(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def uses(tree: ast.AST, wanted: str) -> list[int]:
    """Lines that import the module or reach it as an attribute."""
    attributes = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node) in (wanted, "tf.python")
    ]
    imports = [line for line, name in imported_modules(tree) if f"{name}.".startswith(f"{wanted}.")]
    return sorted(attributes + imports)


def test_the_sources_are_found():
    assert len(FILES) > 20


def test_only_the_seam_imports_tensorflow_python():
    offenders = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in FILES
        if SEAM not in path.parents
        for line in uses(ast.parse(path.read_text("utf-8")), "tensorflow.python")
    ]
    assert offenders == []


@pytest.mark.parametrize(
    "code",
    [
        "import tensorflow.python.framework",
        "from tensorflow.python import eager",
        "from tensorflow import python",
        "import tensorflow as tf\ntf.python.eager",
    ],
)
def test_every_way_to_import_it_is_seen(code):
    assert uses(ast.parse(code), "tensorflow.python")


@pytest.mark.parametrize("code", ["import tensorflow as tf", "from tensorflow.pythonic import x"])
def test_other_imports_are_not(code):
    assert not uses(ast.parse(code), "tensorflow.python")


def test_the_kernel_loads_without_tensorflow():
    blocked = ["tensorflow", "keras", "tf_keras", "grpc"]
    code = (
        f"import sys\nsys.modules.update(dict.fromkeys({blocked}))\n"
        f"for name in {LIGHT_MODULES}:\n    __import__(name)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
