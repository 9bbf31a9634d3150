"""Reading the pages of docs/."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
_HEADING = re.compile(r"^(#+) +(.*?) *$", re.MULTILINE)
_TERM = re.compile(r"^`([^`]+)`\n: ", re.MULTILINE)


def sections(page: str) -> dict[str, str]:
    """The text under each heading of a page, without backticks in the heading."""
    text = DOCS.joinpath(page).read_text(encoding="utf-8")
    headings = list(_HEADING.finditer(text))
    ends = [*(each.start() for each in headings[1:]), len(text)]
    return {
        each.group(2).replace("`", ""): text[each.end() : end]
        for each, end in zip(headings, ends, strict=True)
    }


def terms(text: str) -> list[str]:
    """What a text defines in its definition lists."""
    return _TERM.findall(text)
