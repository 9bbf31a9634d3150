"""The demo's command line."""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # before TensorFlow loads; keeps its chatter out

import click
import tensorflow as tf
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

import tfdist
from examples.data import Digits, digits
from examples.devices import virtual_cpus
from examples.digits.report import ProgressBar, largest_difference, results_table, save_plot
from examples.digits.training import Run, Settings, train

MIN_ACCURACY = 0.97


@click.command(context_settings={"show_default": True})
@click.option("--strategy", "spec", default="mirrored", help="A name, with options as a query.")
@click.option("--devices", "device_count", default=4, type=click.IntRange(1), help="Virtual CPUs.")
@click.option("--epochs", default=25, type=click.IntRange(1))
@click.option(
    "--batch", "batch_size", default=64, type=click.IntRange(1), help="Global batch size."
)
@click.option(
    "--out", default=Path("demo-output"), type=click.Path(path_type=Path, file_okay=False)
)
@click.option("--seed", default=0, type=click.IntRange(0), help="Of the weights, order and split.")
def main(spec: str, device_count: int, epochs: int, batch_size: int, out: Path, seed: int) -> None:
    """Trains a small convolutional network on handwritten digits, on several devices and on one.

    Ends with exit code 1 if the test accuracy of the first run is below 97 %.
    """
    console = Console()
    settings = Settings(epochs, batch_size, seed)
    data = digits(seed)
    strategies = _strategies(spec, device_count)
    console.print(
        f"{len(data.train_images)} training images, {len(data.test_images)} test images, "
        f"global batch {batch_size}, {epochs} epochs, seed {seed}."
    )
    runs = _train_each(strategies, data, settings, console)

    console.print(results_table(runs))
    _print_notes(runs, console)
    plot = out / "digits.png"
    save_plot(runs, plot)
    console.print(f"Curves: {plot}")
    sys.exit(_verdict(runs[0], console))


def _strategies(spec: str, device_count: int) -> dict[str, tf.distribute.Strategy]:
    """The strategy that was asked for, and one device beside it."""
    try:
        devices = virtual_cpus(device_count)
        # Without options, "mirrored" would take the GPUs of a machine that has some.
        options = {"devices": devices} if spec == "mirrored" else {}
        chosen = tfdist.strategy(spec, **options)
        return {spec: chosen, "one device": tfdist.strategy("one_device", device=devices[0])}
    except tfdist.TfdistError as error:
        raise click.ClickException(str(error)) from error


def _train_each(
    strategies: dict[str, tf.distribute.Strategy],
    data: Digits,
    settings: Settings,
    console: Console,
) -> list[Run]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    runs = []
    with Progress(*columns, TimeElapsedColumn(), console=console) as progress:
        for title, strategy in strategies.items():
            task = progress.add_task(f"{title}  tracing", total=settings.epochs)
            bar = ProgressBar(progress, task, title)
            runs.append(train(title, strategy, data, settings, [bar]))
    return runs


def _print_notes(runs: list[Run], console: Console) -> None:
    first, second = runs
    console.print(
        "examples/s leaves out the first step of each run (it traces the model; its own column) "
        "and the evaluation."
    )
    console.print(
        f"Virtual devices share this machine's {os.cpu_count()} CPU cores, so more of them cost "
        "time rather than save it."
    )
    console.print(
        "Same seed and same global batch, so the curves should coincide, but for rounding, which "
        "training magnifies. Largest difference: "
        f"loss {largest_difference(first.loss, second.loss):.1e}, "
        f"accuracy {largest_difference(first.test_accuracy, second.test_accuracy):.1e}."
    )


def _verdict(run: Run, console: Console) -> int:
    accuracy = run.test_accuracy[-1]
    passed = accuracy >= MIN_ACCURACY
    comparison = "at least" if passed else "below"
    console.print(
        f"Test accuracy of {run.title}: {accuracy:.2%}, {comparison} the {MIN_ACCURACY:.0%} asked.",
        style="green" if passed else "bold red",
    )
    return 0 if passed else 1
