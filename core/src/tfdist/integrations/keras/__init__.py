"""Keras 3 under tfdist strategies: same numbers as on one device.

The one place that knows Keras's insides. Every function here goes around one of Keras's and falls
through to it for strategies that are not of tfdist.
"""

from __future__ import annotations

import functools
import logging

import keras
from packaging.version import Version

from tfdist.integrations.keras import (
    accumulators,
    convolutions,
    datasets,
    draws,
    layers,
    losses,
    metrics,
    optimizers,
    resume,
    thread_state,
    trainer,
)
from tfdist.replica import thread_state as replica_thread_state

__all__ = ["install"]

# Tried with 3.12 and 3.15. Beyond, Keras's insides may differ: say so, once.
_TRIED = (Version("3.12"), Version("3.16"))

_log = logging.getLogger(__name__)


@functools.cache
def install() -> None:
    """Puts the integration in place, once; does nothing on backends other than TensorFlow."""
    if keras.backend.backend() != "tensorflow":
        return
    version = Version(keras.__version__)
    if not _TRIED[0] <= version < _TRIED[1]:
        _log.warning(
            "Keras %s is outside the versions that tfdist was tried with (%s to below %s).",
            version,
            *_TRIED,
        )
    for part in (
        losses,
        metrics,
        optimizers,
        accumulators,
        layers,
        convolutions,
        datasets,
        draws,
        trainer,
        resume,
    ):
        part.install()
    replica_thread_state.register(thread_state.carrier)
