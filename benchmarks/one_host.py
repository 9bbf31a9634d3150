"""``mirrored`` beside TensorFlow's, on the virtual CPU devices of one host."""

from __future__ import annotations

from pathlib import Path

import click
from rich import box
from rich.console import Console
from rich.table import Table

from benchmarks.contestants import CONTESTANTS
from benchmarks.process import ROOT, Quantities, rounds
from benchmarks.summary import Quantity, Row, headings, summarize, write_page

QUANTITIES = (
    Quantity("first_step", "first step, model building included", "s"),
    Quantity("step", "later step", "ms", 1000.0),
    Quantity("input", "input, rows", "/s"),
)


@click.command(context_settings={"show_default": True})
@click.option("--rounds", "round_count", default=5, type=click.IntRange(1), help="Of processes.")
@click.option("--devices", default=4, type=click.IntRange(1), help="Virtual CPU devices.")
@click.option("--steps", default=200, type=click.IntRange(1), help="Timed, a process.")
@click.option(
    "--out",
    default=ROOT / "benchmarks" / "results" / "one-host.md",
    type=click.Path(path_type=Path, dir_okay=False),
    show_default="benchmarks/results/one-host.md",
)
def main(round_count: int, devices: int, steps: int, out: Path) -> None:
    """Times a small network's training step, its first step, and the input."""
    console = Console()
    measured = []
    for found in rounds("benchmarks.work", CONTESTANTS, (devices, steps), round_count):
        measured.append(found)
        console.print(f"round {len(measured)} of {round_count}", style="dim")
    rows = summarize(measured, CONTESTANTS, QUANTITIES)
    title = f"mirrored on {devices} virtual CPU devices"
    notes = (
        f"A network of three dense layers (64, 256, 256, 10) with SGD, global batch 256, "
        f"{steps} steps in each of {round_count} rounds. The ratio is that of {CONTESTANTS[0]} to "
        f"{CONTESTANTS[1]} within a round: below 1 is better for times, above 1 for rates. "
        f"{_same_work(measured)}"
    )
    console.print(_table(title, rows))
    console.print(notes)
    write_page(out, title, notes, CONTESTANTS, rows)
    console.print(f"Written: {out}")


def _same_work(measured: list[dict[str, Quantities]]) -> str:
    """How far apart the losses were: those who compute the same thing end in the same place."""
    first, second = ([found[name]["loss"] for found in measured] for name in CONTESTANTS)
    difference = max(abs(a - b) for a, b in zip(first, second, strict=True))
    return f"Loss after the last step: {first[0]:.6f}, largest difference {difference:.1e}."


def _table(title: str, rows: list[Row]) -> Table:
    table = Table(title=title, box=box.SIMPLE_HEAVY)
    for index, heading in enumerate(headings(CONTESTANTS)):
        table.add_column(heading, justify="right" if index else "left")
    for row in rows:
        table.add_row(*row.cells())
    return table


if __name__ == "__main__":
    main()
