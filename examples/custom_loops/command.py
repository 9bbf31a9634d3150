"""The command line that the programs of this folder share."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import click
import numpy as np

import tfdist
from examples.devices import virtual_cpus

TWO_CPUS = "mirrored?devices=CPU:0,CPU:1"


def run_from_command_line(main: Callable[[str], NamedTuple]) -> None:
    """Calls ``main`` with the strategy that was asked for, and prints what it returns.

    Args:
        main: Takes a strategy by name, trains, checks what it promises, returns what it found.
    """

    @click.command(help=main.__doc__, context_settings={"show_default": True})
    @click.option("--strategy", "spec", default=TWO_CPUS, help="Name, or query as the default is.")
    @click.option("--devices", default=2, type=click.IntRange(1), help="Virtual CPUs to make.")
    def command(spec: str, devices: int) -> None:
        try:
            virtual_cpus(devices)
            found = main(spec)
        except tfdist.TfdistError as error:
            raise click.ClickException(str(error)) from error
        for name, value in found._asdict().items():
            click.echo(f"{name}: {_text(value)}")

    command()


def _text(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    if isinstance(value, list):
        return ", ".join(_text(item) for item in value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)
