"""Who is compared: strategies by the name that tables use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tensorflow as tf

OURS = "tfdist"
THEIRS = "tf.distribute"
CONTESTANTS = (OURS, THEIRS)


def mirrored(contestant: str, devices: Sequence[str]) -> tf.distribute.Strategy:
    """The mirrored strategy of ``contestant``, with its default options."""
    import tensorflow as tf  # here, because the process that only reads results needs none

    import tfdist

    if contestant == OURS:
        return tfdist.strategy("mirrored", devices=list(devices))
    return tf.distribute.MirroredStrategy(list(devices))
