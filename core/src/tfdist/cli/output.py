"""Printing for people and for programs."""

import json
import shutil
import textwrap
from collections.abc import Iterable, Sequence

import click

_WIDE = 200  # for files and pipes, where cutting would lose text


def show_json(value: object) -> None:
    """Print a value as JSON."""
    click.echo(json.dumps(value, indent=2))


def show_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table as wide as the terminal, or as wide as it needs to be in a file or pipe."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*row)
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console = Console(highlight=False, markup=False, width=_WIDE)
    console.print(table)


def show_fields(fields: Iterable[tuple[str, str]]) -> None:
    """Print names and values, the values in one column."""
    pairs = list(fields)
    width = max((len(name) for name, _ in pairs), default=0) + 2
    columns = shutil.get_terminal_size((_WIDE, 0)).columns
    for name, value in pairs:
        click.echo(
            textwrap.fill(
                value or "-",
                columns,
                initial_indent=name.ljust(width),
                subsequent_indent=" " * width,
                break_long_words=False,
                break_on_hyphens=False,
            )
        )
