"""Random numbers: replicas share one seed state, and each draws the rows of its own examples.

In a step, the rows that a replica draws for its examples are those that one device would draw for
them: dropout masks do not depend on the number of replicas. Where a draw does not follow the batch
in a way that can be seen here, each replica draws with a seed of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf
from keras.src import backend
from keras.src.backend.tensorflow import image, random
from keras.src.random import seed_generator
from keras.src.random.seed_generator import draw_seed as _draw_shared_seed

from tfdist.integrations.keras import active, step
from tfdist.integrations.keras.patching import around

_PHILOX = 1
_GROUP_BYTES = 16  # Philox makes 16 bytes of randomness a count.


def install() -> None:
    """Goes around the drawing of seeds, wherever the backend has taken it to, and of numbers."""
    for module in (seed_generator, random, image):
        around(module, "draw_seed", _draw_seed)
    around(seed_generator.SeedGenerator, "next", _next)
    around(random, "uniform", _uniform)
    around(random, "normal", _normal)
    around(random, "dropout", _dropout)


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


def _uniform(
    original: Any,
    shape: Any,
    minval: Any = 0.0,
    maxval: Any = 1.0,
    dtype: Any = None,
    seed: Any = None,
) -> Any:
    drawn = _rows(tf.raw_ops.StatelessRandomUniformV2, shape, dtype, seed)
    if drawn is None:
        return original(shape, minval, maxval, dtype, seed)
    minval, maxval = tf.cast(minval, drawn.dtype), tf.cast(maxval, drawn.dtype)
    return drawn * (maxval - minval) + minval


def _normal(
    original: Any,
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = None,
    seed: Any = None,
) -> Any:
    drawn = _rows(tf.raw_ops.StatelessRandomNormalV2, shape, dtype, seed)
    if drawn is None:
        return original(shape, mean, stddev, dtype, seed)
    return drawn * tf.cast(stddev, drawn.dtype) + tf.cast(mean, drawn.dtype)


def _dropout(
    original: Any, inputs: Any, rate: Any, noise_shape: Any = None, seed: Any = None
) -> Any:
    if step.current() is None or rate in (0.0, 1.0) or inputs.shape.rank is None:
        return original(inputs, rate, noise_shape, seed)
    shape = [
        size if size is not None else tf.shape(inputs)[i] for i, size in enumerate(inputs.shape)
    ]
    for i, size in enumerate(noise_shape or ()):
        shape[i] = shape[i] if size is None else size
    drawn = _rows(tf.raw_ops.StatelessRandomUniformV2, shape, inputs.dtype, seed)
    if drawn is None:
        return original(inputs, rate, noise_shape, seed)
    scale = tf.cast(1 / (1 - rate), inputs.dtype)
    return tf.where(drawn >= tf.cast(rate, drawn.dtype), inputs * scale, tf.zeros_like(inputs))


def _rows(draw: Callable[..., Any], shape: Any, dtype: Any, seed: Any) -> Any:
    """What ``draw`` gives for the rows of this replica's examples in the global batch.

    None where the leading dimension is not known to follow the batch.
    """
    now = step.current()
    dtype = tf.as_dtype(dtype or backend.floatx())
    if now is None or not dtype.is_floating or tf.is_tensor(shape) or not shape:
        return None
    first_row = now.first_row(shape[0])
    if first_row is None:
        return None
    row_size = tf.reduce_prod(tf.cast(tf.stack(list(shape[1:]) or [1]), tf.int64))
    start = first_row * row_size
    count = tf.cast(shape[0], tf.int64) * row_size
    group = _GROUP_BYTES // max(dtype.size, 4)
    key, counter = tf.raw_ops.StatelessRandomGetKeyCounter(
        seed=random._cast_seed(_draw_shared_seed(seed))
    )
    skipped = tf.stack([start // group, tf.constant(0, tf.int64)])
    counter = tf.bitcast(tf.bitcast(counter, tf.int64) + skipped, tf.uint64)
    size = tf.reshape(start % group + count, [1])
    flat = draw(shape=size, key=key, counter=counter, alg=_PHILOX, dtype=dtype)
    return tf.reshape(flat[start % group :], shape)
