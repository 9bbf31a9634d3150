"""Random numbers: each replica draws its own, from one seed state that all of them share."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from keras.src.backend.tensorflow import image, random
from keras.src.random import seed_generator

from tfdist.integrations.keras import active
from tfdist.integrations.keras.patching import around


def install() -> None:
    """Goes around the function that draws a seed, wherever the backend has taken it to."""
    for module in (seed_generator, random, image):
        around(module, "draw_seed", _draw_seed)
    around(seed_generator.SeedGenerator, "next", _next)


def _draw_seed(original: Any, seed: Any) -> Any:
    drawn = original(seed)
    context = active.several_replicas()
    if context is None:
        return drawn
    # Replica 0 keeps the seed that one device would use.
    replica_id = tf.cast(context.replica_id_in_sync_group, drawn.dtype)
    own = tf.random.experimental.stateless_fold_in(drawn, replica_id)
    return tf.where(replica_id == 0, drawn, own)


def _next(original: Any, self: Any, ordered: bool = True) -> Any:
    context = active.several_replicas()
    if context is None or not active.merges_updates(context.strategy):
        return original(self, ordered)
    # One state for all replicas: it advances once, and all see what it was before.
    return tf.identity(context.merge_call(_next_once, args=(original, self, ordered)))


def _next_once(strategy: tf.distribute.Strategy, original: Any, self: Any, ordered: bool) -> Any:
    del strategy
    return original(self, ordered)
