"""The arithmetic of the benchmarks; no speed is asserted anywhere."""

import pytest
from benchmarks import process
from benchmarks.summary import Quantity, summarize, write_page

BOTH = ("a", "b")
# Three rounds; the machine was slow for both in the second.
MEASURED = [
    {"a": {"step": 0.001}, "b": {"step": 0.002}},
    {"a": {"step": 0.010}, "b": {"step": 0.025}},
    {"a": {"step": 0.003}, "b": {"step": 0.004}},
]
STEP = Quantity("step", "later step", "ms", 1000.0)


def test_the_ratio_is_taken_within_a_round():
    (row,) = summarize(MEASURED, BOTH, [STEP])
    assert row.medians == ("3 ms", "4 ms")
    assert row.ratio == pytest.approx(0.5)
    assert row.ratio_range == pytest.approx((0.4, 0.75))


def test_large_values_are_whole():
    assert Quantity("rate", "input", "/s").text(1234567.8) == "1,234,568 /s"
    assert Quantity("time", "step", "s").text(0.123456) == "0.123 s"


def test_the_page_has_the_table_and_the_circumstances(tmp_path):
    page = tmp_path / "new" / "page.md"
    write_page(page, "Steps", "A note.", BOTH, summarize(MEASURED, BOTH, [STEP]))
    text = page.read_text(encoding="utf-8")
    assert "| later step | 3 ms | 4 ms | 0.50 | 0.40 to 0.75 |" in text
    assert "* command: `python -m benchmarks." in text
    assert "CPU cores" in text
    assert "tfdist 0." in text


def test_the_contestants_take_turns(monkeypatch):
    calls = []
    monkeypatch.setattr(process, "_measure", lambda module, name, arguments: calls.append(name))
    list(process.rounds("module", BOTH, (), 3))
    assert calls == ["a", "b", "b", "a", "a", "b"]
