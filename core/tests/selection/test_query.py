"""The text form of a choice."""

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


@given(
    st.dictionaries(st.from_regex(r"[a-z_]+", fullmatch=True), st.text(), max_size=4),
)
def test_any_value_can_be_written(options: dict[str, str]) -> None:
    text = "&".join(f"{name}={quote(value)}" for name, value in options.items())
    parsed = query.parse(f"mirrored?{text}" if options else "mirrored")
    assert parsed == query.Query("mirrored", options)
