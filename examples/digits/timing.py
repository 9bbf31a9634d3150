"""Training speed, without the first step (which traces and compiles) and without evaluation."""

from __future__ import annotations

import time
from typing import Any

import keras


class Stopwatch(keras.callbacks.Callback):
    """Adds up the wall-clock time of training steps.

    The first step is kept apart as ``first_step_s``: it traces the model and builds the graph, once
    a run. Evaluation lies between the end of one epoch's last step and the start of the next epoch,
    and is not counted.

    Args:
        example_count: Training examples in an epoch.
        batch_size: The global batch size.
    """

    def __init__(self, example_count: int, batch_size: int) -> None:
        super().__init__()
        self._example_count = example_count
        self._batch_size = batch_size
        self._started_s = 0.0
        self._steps_s = 0.0
        self._examples = 0
        self.first_step_s = 0.0

    @property
    def examples_per_s(self) -> float:
        """Training examples a second, all devices together; 0 if there was only one step."""
        return self._examples / self._steps_s if self._steps_s else 0.0

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:  # noqa: ARG002
        """Starts the clock."""
        self._started_s = time.perf_counter()

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:  # noqa: ARG002
        """Adds the step that has just ended."""
        now_s = time.perf_counter()
        elapsed_s = now_s - self._started_s
        self._started_s = now_s
        if not self.first_step_s:
            self.first_step_s = elapsed_s
            return
        self._steps_s += elapsed_s
        done = batch * self._batch_size
        self._examples += min(self._batch_size, self._example_count - done)
