"""What runs the user's function once a replica: the part a strategy is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import tensorflow as tf

from tfdist.replica.context import ReplicaContext
from tfdist.tf_internals import autograph
from tfdist.values import regroup, select_replica


class ReplicaRunner(Protocol):
    """Runs a function on every replica and joins what they return."""

    def run(
        self,
        strategy: tf.distribute.Strategy,
        fn: Callable[..., Any],
        args: Sequence[Any],
        kwargs: dict[str, Any],
    ) -> Any:
        """Calls ``fn`` in each replica context, in the strategy's scope."""


class InlineRunner:
    """Runs the one replica of a strategy in the calling thread."""

    def run(
        self,
        strategy: tf.distribute.Strategy,
        fn: Callable[..., Any],
        args: Sequence[Any],
        kwargs: dict[str, Any],
    ) -> Any:
        """Calls ``fn`` on the strategy's only device."""
        fn = autograph.convert(fn)
        args, kwargs = select_replica(0, (tuple(args), kwargs))
        device = strategy.extended.worker_devices[0]
        with tf.device(device), ReplicaContext(strategy, 0):
            return regroup((fn(*args, **kwargs),))
