"""What a person sees: progress, the table, the plot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras
import matplotlib as mpl
from rich import box
from rich.progress import Progress, TaskID
from rich.table import Table

from examples.digits.training import Run


class ProgressBar(keras.callbacks.Callback):
    """Moves a rich progress bar by one for each epoch."""

    def __init__(self, progress: Progress, task: TaskID, title: str) -> None:
        super().__init__()
        self._progress = progress
        self._task = task
        self._title = title

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Shows the loss and the test accuracy reached so far."""
        logs = logs or {}
        text = f"{self._title}  loss {logs['loss']:.4f}  accuracy {logs['val_accuracy']:.2%}"
        self._progress.update(self._task, completed=epoch + 1, description=text)


def results_table(runs: Sequence[Run]) -> Table:
    """One row a run."""
    # Fits into 80 columns.
    table = Table(title="Handwritten digits", box=box.SIMPLE_HEAVY, collapse_padding=True)
    table.add_column("strategy", overflow="fold")
    for heading in ("devices", "examples/s", "first step", "loss", "test loss"):
        table.add_column(heading, justify="right")
    table.add_column("accuracy", justify="right", style="bold")
    for run in runs:
        table.add_row(
            run.title,
            str(run.device_count),
            f"{run.examples_per_s:,.0f}",
            f"{run.first_step_s:.1f} s",
            f"{run.loss[-1]:.5f}",
            f"{run.test_loss[-1]:.5f}",
            f"{run.test_accuracy[-1]:.2%}",
        )
    return table


def largest_difference(first: Sequence[float], second: Sequence[float]) -> float:
    """The largest distance between two curves of one length."""
    return max(abs(a - b) for a, b in zip(first, second, strict=True))


def save_plot(runs: Sequence[Run], path: Path) -> None:
    """Draws the curves of all runs, loss on the left and accuracy on the right.

    Args:
        runs: The runs; later ones are dashed, because coinciding curves hide each other.
        path: The PNG file to write. Its folder is made if it does not exist.
    """
    mpl.use("Agg")
    from matplotlib import pyplot as plt  # after the choice of backend

    path.parent.mkdir(parents=True, exist_ok=True)
    figure, (loss_axes, accuracy_axes) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    for index, run in enumerate(runs):
        style: dict[str, Any] = {"linestyle": "-", "linewidth": 4, "alpha": 0.45}
        if index:
            style = {"linestyle": "--", "linewidth": 1.5, "color": "black"}
        epochs = range(1, len(run.loss) + 1)
        loss_axes.plot(epochs, run.loss, label=run.title, **style)
        accuracy_axes.plot(epochs, [100 * a for a in run.test_accuracy], label=run.title, **style)
    loss_axes.set(title="Training loss", xlabel="epoch", yscale="log")
    accuracy_axes.set(title="Test accuracy (%)", xlabel="epoch")
    for axes in (loss_axes, accuracy_axes):
        axes.grid(alpha=0.3)
        axes.legend()
    figure.savefig(path, dpi=120)
    plt.close(figure)
