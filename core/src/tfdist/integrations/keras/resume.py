"""``BackupAndRestore``: training resumes at the batch where it stopped, not at the epoch start."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from keras.src import callbacks
from keras.src.backend.tensorflow import trainer as tf_trainer
from keras.src.trainers import epoch_iterator

from tfdist.integrations.keras import active
from tfdist.integrations.keras.patching import around

_KEY = "tfdist_batches_done"


class _Fit(threading.local):
    """The epoch iterator of the training data of the ``fit`` that is running."""

    is_starting = False
    iterator: Any = None


_fit = _Fit()


def install() -> None:
    """Goes around the callback's saving and loading, and the iteration of an epoch."""
    around(callbacks.BackupAndRestore, "_save_model", _save_model)
    around(callbacks.BackupAndRestore, "_load_model", _load_model)
    around(callbacks.BackupAndRestore, "on_train_batch_end", _on_train_batch_end)
    around(callbacks.BackupAndRestore, "on_epoch_end", _on_epoch_end)
    around(tf_trainer.TensorFlowTrainer, "fit", _around_fit)
    around(tf_trainer.TFEpochIterator, "__init__", _init_epoch_iterator)
    around(epoch_iterator.EpochIterator, "_enumerate_iterator", _enumerate_iterator)


def _around_fit(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    if not active.is_ours(self.distribute_strategy):
        return original(self, *args, **kwargs)
    outer = _fit.iterator
    _fit.is_starting = True
    try:
        return original(self, *args, **kwargs)
    finally:
        _fit.is_starting, _fit.iterator = False, outer
        self._initial_epoch = None  # Where this fit resumed says nothing about the next one.


def _init_epoch_iterator(original: Any, self: Any, *args: Any, **kwargs: Any) -> None:
    original(self, *args, **kwargs)
    if _fit.is_starting:
        _fit.is_starting, _fit.iterator = False, self


def _on_train_batch_end(original: Any, self: Any, batch: int, logs: Any = None) -> None:
    self._tfdist_batches_done = batch + 1
    original(self, batch, logs)


def _on_epoch_end(original: Any, self: Any, epoch: int, logs: Any = None) -> None:
    self._tfdist_batches_done = 0
    original(self, epoch, logs)


def _save_model(original: Any, self: Any) -> None:
    original(self)
    if not active.is_ours(self.model.distribute_strategy):
        return
    path = Path(self._training_metadata_path)
    metadata = json.loads(path.read_text())
    metadata[_KEY] = self._tfdist_batches_done
    path.write_text(json.dumps(metadata))


def _load_model(original: Any, self: Any) -> None:
    original(self)
    path = Path(self._training_metadata_path)
    if not active.is_ours(self.model.distribute_strategy) or not path.exists():
        return
    metadata = json.loads(path.read_text())
    epoch, done = metadata["epoch"], metadata.get(_KEY, 0)
    self._current_epoch = epoch
    if _fit.iterator is not None:
        _fit.iterator._tfdist_resume = (done, done + _drawn_before(_fit.iterator, epoch))


def _drawn_before(iterator: Any, epoch: int) -> int:
    """Batches that the epochs before have taken from the current pass over the data."""
    steps, count = iterator.steps_per_epoch, iterator._num_batches
    if not steps:
        return 0
    epochs_a_pass = -(-count // steps) if count else epoch + 1
    return int(epoch % epochs_a_pass * steps)


def _enumerate_iterator(original: Any, self: Any) -> Iterator[Any]:
    done, drawn = vars(self).pop("_tfdist_resume", (0, 0))
    return _resumed(self, done, drawn) if drawn else original(self)


def _resumed(self: Any, done: int, drawn: int) -> Iterator[Any]:
    """The rest of an epoch of which ``done`` batches are done, ``drawn`` into the data."""
    iterator = iter(self._get_iterator())
    for _ in range(drawn):
        next(iterator)
    size, count = self.steps_per_execution, self._num_batches
    last = self.steps_per_epoch or count
    self.data_adapter.on_epoch_begin()
    self._current_iterator, self._steps_seen = iterator, drawn
    step = done
    while (not last or step < last) and (not count or self._steps_seen < count):
        self._steps_seen += size
        yield step, step + size - 1, self._current_iterator
        step += size
    if count and self._steps_seen >= count:
        self._current_iterator, self._steps_seen = iter(self._get_iterator()), 0
    self.data_adapter.on_epoch_end()
