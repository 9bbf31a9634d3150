"""Text to values, by annotation."""

import enum
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, Optional

import pytest

from tfdist.selection.annotations import UNKNOWN, alternatives
from tfdist.selection.text import convert, fits


class Color(enum.Enum):
    RED = 1
    DARK_BLUE = 2


def _taken() -> None:
    """Only a place in this module, for annotations given as text."""


@pytest.mark.parametrize(
    ("text", "annotation", "value"),
    [
        ("3", int, 3),
        ("-3", "int", -3),
        ("0.5", float, 0.5),
        ("3", float, 3.0),
        ("3", int | float, 3),
        ("3.5", int | float, 3.5),
        ("1e-3", "float | None", 1e-3),
        ("none", "float | None", None),
        ("None", Optional[int], None),  # noqa: UP045
        ("true", bool, True),
        ("No", bool, False),
        ("0", bool, False),
        ("1", "bool | int", 1),
        ("CPU:0", str, "CPU:0"),
        ("none", str, "none"),
        ("none", "str | None", None),
        ("CPU:0,CPU:1", str, "CPU:0,CPU:1"),
        ("CPU:0,CPU:1", "Sequence[str] | None", ["CPU:0", "CPU:1"]),
        ("CPU:0", "Sequence[str] | None", ["CPU:0"]),
        ("CPU:0, CPU:1", list[str], ["CPU:0", "CPU:1"]),
        ("", list[str], []),
        ("1,2", tuple[int, ...], (1, 2)),
        ("1,x", tuple[int, str], (1, "x")),
        ("1,2,2", frozenset[int], frozenset({1, 2})),
        ("CPU:0", "str | Sequence[str]", "CPU:0"),
        ("CPU:0,CPU:1", "str | Sequence[str]", ["CPU:0", "CPU:1"]),
        ("a,b", Sequence, ["a", "b"]),
        ("red", Color, Color.RED),
        ("dark_blue", "Color | None", Color.DARK_BLUE),
        ("once", Literal["once", "per_replica"], "once"),
        ("2", Literal[1, 2], 2),
        ("/tmp/x", Path, Path("/tmp/x")),
        ("nccl", "str | OnlyForTypeCheckers | None", "nccl"),
        ("nccl", "OnlyForTypeCheckers | None", "nccl"),
        ("x", Any, "x"),
        ("x", "Any", "x"),
    ],
)
def test_conversion(text: str, annotation: object, value: object) -> None:
    converted = convert(text, alternatives(annotation, _taken))
    assert converted == value
    assert type(converted) is type(value)


@pytest.mark.parametrize(
    ("text", "annotation"),
    [
        ("x", int),
        ("3.5", int),
        ("", int),
        ("maybe", bool),
        ("1,x", list[int]),
        ("1", tuple[int, int]),
        ("green", Color),
        ("often", Literal["once"]),
        ("x", "int | None"),
        ("x", Callable[[], int]),
        ("x", dict[str, int]),
    ],
)
def test_no_conversion(text: str, annotation: object) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        convert(text, alternatives(annotation, _taken))


@pytest.mark.parametrize(
    ("annotation", "good", "bad"),
    [
        (int, [3, True - 1], [True, 3.5, "3", None]),
        (float, [3, 3.5], [True, "3.5", None, [1.0]]),
        (bool, [True, False], [1, "yes", None]),
        ("str | None", ["x", None], [3, ["x"]]),
        ("Sequence[str] | None", [["x"], ("x",), None], ["x", 3, b"x"]),
        (Iterable[str], [iter("ab"), {"a"}], ["ab", 3]),
        (Literal["a", "b"], ["a"], ["c", None]),
        (Color, [Color.RED], ["RED", 1]),
        ("OnlyForTypeCheckers | None", [object(), None, 3], []),
        (Any, [object(), None], []),
        ("dict[str, int]", [{}], [[], 3]),
    ],
)
def test_values_given_in_python(annotation: object, good: list[Any], bad: list[Any]) -> None:
    kinds = alternatives(annotation, _taken)
    assert [value for value in good if not fits(value, kinds)] == []
    assert [value for value in bad if fits(value, kinds)] == []


def test_annotations_are_split() -> None:
    assert alternatives("int | None", _taken) == (int, None)
    assert alternatives("Sequence[str] | Missing", _taken) == (Sequence[str], UNKNOWN)
    assert alternatives("Optional[int]", _taken) == (int, type(None))
    assert alternatives("not an annotation", _taken) == (UNKNOWN,)
