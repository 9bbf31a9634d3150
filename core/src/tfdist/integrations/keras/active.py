"""Whether the calling code runs on a replica of one of our strategies."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import tensorflow as tf
from keras.src import backend

from tfdist.strategies.base import Strategy


class _Flags(threading.local):
    """Each replica is a thread of its own, and so is each flag."""

    applying = False


_flags = _Flags()


def is_ours(strategy: Any) -> bool:
    """Whether a strategy is one of tfdist: everything here leaves others alone."""
    return isinstance(strategy, Strategy)


def replica_context() -> tf.distribute.ReplicaContext | None:
    """The replica context, if it is of one of our strategies and the code computes for real.

    None in Keras's stateless scopes, where it only infers shapes: replicas do not meet there.
    """
    context = tf.distribute.get_replica_context()
    if context is None or not is_ours(context.strategy) or backend.in_stateless_scope():
        return None
    return context


def several_replicas() -> tf.distribute.ReplicaContext | None:
    """``replica_context()``, unless the replica is the only one."""
    context = replica_context()
    return context if context is not None and context.num_replicas_in_sync > 1 else None


def merges_updates(strategy: tf.distribute.Strategy) -> bool:
    """Whether variables have one copy for all replicas, updated once for all of them."""
    return bool(strategy.extended._use_merge_call())


@contextmanager
def applying_gradients() -> Iterator[None]:
    """Marks code of an optimizer that works on gradients already summed over the replicas."""
    previous, _flags.applying = _flags.applying, True
    try:
        yield
    finally:
        _flags.applying = previous


def is_applying_gradients() -> bool:
    """Whether the calling code is inside ``applying_gradients``."""
    return _flags.applying


def current_graph() -> Any:
    """The graph being built; None when executing eagerly."""
    return None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()
