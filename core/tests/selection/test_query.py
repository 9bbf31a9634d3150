"""The text form of a choice."""

import pytest

from tfdist.errors import OptionError
from tfdist.selection import query


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        ("mirrored", "mirrored", {}),
        ("  mirrored\n", "mirrored", {}),
        ("mirrored?devices=CPU:0,CPU:1", "mirrored", {"devices": "CPU:0,CPU:1"}),
        ("a?x=1&y=b=c", "a", {"x": "1", "y": "b=c"}),
        ("a?x=", "a", {"x": ""}),
        ("a?x=1%262&y=%25", "a", {"x": "1&2", "y": "%"}),
        ("a?x=1+2", "a", {"x": "1+2"}),
        ("dist/a?x=/job:w/device:CPU:0", "dist/a", {"x": "/job:w/device:CPU:0"}),
    ],
)
def test_readable(text: str, name: str, options: dict[str, str]) -> None:
    assert query.parse(text) == query.Query(name, options)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "there is no name"),
        ("?x=1", "there is no name"),
        ("a?", "'' is not 'option=value'"),
        ("a?x", "'x' is not 'option=value'"),
        ("a?=1", "'=1' is not 'option=value'"),
        ("a?x=1&", "'' is not 'option=value'"),
        ("a?x=1&x=2", "the option 'x' comes twice"),
    ],
)
def test_unreadable(text: str, why: str) -> None:
    with pytest.raises(OptionError) as caught:
        query.parse(text)
    assert str(caught.value) == (
        f"The choice {text!r} cannot be read. In it {why}; expected 'name' or "
        "'name?option=value&option=value'. Write it as in 'mirrored?devices=CPU:0,CPU:1'."
    )
