"""Medians over rounds, and the page that keeps them."""

from __future__ import annotations

import os
import platform
import shlex
import statistics
import subprocess
import sys
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from packaging.utils import canonicalize_name

from benchmarks.process import ROOT, Quantities

_PACKAGES = (
    "tfdist",
    "tfdist-plugin-mirrored",
    "tensorflow",
    "tensorflow-cpu",
    "keras",
    "numpy",
)


class Quantity(NamedTuple):
    """One thing that was measured: its key in the JSON, and how to write it."""

    key: str
    title: str
    unit: str
    factor: float = 1.0

    def text(self, value: float) -> str:
        """A value with its unit, to three digits or in whole thousands."""
        scaled = value * self.factor
        return f"{scaled:,.0f} {self.unit}" if scaled >= 1000 else f"{scaled:.3g} {self.unit}"


class Row(NamedTuple):
    """One quantity of all rounds; ``ratio`` is the first contestant's value over the second's."""

    title: str
    medians: tuple[str, str]
    ratio: float
    ratio_range: tuple[float, float]

    def cells(self) -> tuple[str, ...]:
        """The row as text."""
        low, high = self.ratio_range
        return self.title, *self.medians, f"{self.ratio:.2f}", f"{low:.2f} to {high:.2f}"


def summarize(
    measured: Sequence[dict[str, Quantities]],
    contestants: tuple[str, str],
    quantities: Iterable[Quantity],
) -> list[Row]:
    """One row a quantity: medians of both, and the median and range of the rounds' ratios."""
    return [_row(measured, contestants, quantity) for quantity in quantities]


def _row(
    measured: Sequence[dict[str, Quantities]], contestants: tuple[str, str], quantity: Quantity
) -> Row:
    first, second = ([found[name][quantity.key] for found in measured] for name in contestants)
    ratios = [a / b for a, b in zip(first, second, strict=True)]
    medians = (
        quantity.text(statistics.median(first)),
        quantity.text(statistics.median(second)),
    )
    return Row(quantity.title, medians, statistics.median(ratios), (min(ratios), max(ratios)))


def headings(contestants: tuple[str, str]) -> tuple[str, ...]:
    """The headings of a table of rows."""
    return "median", *contestants, "ratio", "range"


def write_page(
    path: Path, title: str, notes: str, contestants: tuple[str, str], rows: Sequence[Row]
) -> None:
    """Writes the results as Markdown, with the command, the versions and the machine."""
    table = [headings(contestants), ("---", *["---:"] * 4), *(row.cells() for row in rows)]
    lines = [
        f"# {title}",
        "",
        notes,
        "",
        *(f"| {' | '.join(cells)} |" for cells in table),
        "",
        *(f"* {name}: {value}" for name, value in _circumstances()),
        "",
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines), encoding="utf-8")


def _circumstances() -> list[tuple[str, str]]:
    module = Path(sys.argv[0]).stem
    command = shlex.join(["python", "-m", f"benchmarks.{module}", *sys.argv[1:]])
    found = {canonicalize_name(d.metadata["Name"]) for d in metadata.distributions()}
    packages = [f"{name} {metadata.version(name)}" for name in _PACKAGES if name in found]
    return [
        ("command", f"`{command}`"),
        ("revision", _revision()),
        ("packages", ", ".join([f"Python {platform.python_version()}", *packages])),
        ("machine", f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPU cores"),
    ]


def _revision() -> str:
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or "not a git clone"
