"""A ``tf.function`` given to ``run``: one graph function around all replicas, not one inside each.

Replicas cannot meet inside a graph that one of them is still building. A function that XLA compiles
is the exception: it stays inside, so that each replica's program is compiled for its device.
"""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from tfdist.tf_internals import autograph
from tfdist.values import PerReplicaSpec, is_distributed_value

Run = Callable[[Any, Callable[..., Any], Sequence[Any], dict[str, Any]], Any]


class HoistedFunctions:
    """The graph functions of one runner, by the function that the user gave.

    Args:
        run: ``(strategy, fn, args, kwargs)`` runs ``fn`` on every replica.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._made: weakref.WeakKeyDictionary[Any, dict[Any, Any]] = weakref.WeakKeyDictionary()

    def run(self, strategy: Any, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Runs a ``tf.function`` on every replica, in one graph."""
        signature = None
        if fn.input_signature is not None:
            args, kwargs = _positional(fn, args, kwargs), {}
            signature = _signature_for_all(fn.input_signature, args, strategy.num_replicas_in_sync)
        made = self._made.setdefault(fn, {})
        if signature not in made:
            made[signature] = self._make(strategy, fn, signature)
        return made[signature](args, kwargs)

    def _make(self, strategy: Any, fn: Any, signature: Any) -> Any:
        # The cache must not keep its own key alive, nor the strategy that owns the cache.
        python_function, strategy_ref, run = fn.python_function, weakref.ref(strategy), self._run

        def run_all(args: Any, kwargs: Any) -> Any:
            owner: Any = strategy_ref()
            convert = autograph.convert(python_function)
            with owner.scope():
                return run(owner, convert, args, kwargs)

        return tf.function(
            run_all,
            input_signature=None if signature is None else [signature, {}],
            reduce_retracing=fn._reduce_retracing,
            autograph=fn._autograph,
        )


def _positional(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    if not kwargs:
        return args
    return inspect.signature(fn.python_function).bind(*args, **kwargs).args


def _signature_for_all(
    signature: Sequence[Any], args: Sequence[Any], replica_count: int
) -> tuple[Any, ...] | None:
    """The function's signature, with a spec a replica where the argument has a value a replica."""
    if len(signature) != len(args):
        return None  # the function itself then says which argument is missing
    return tuple(
        tf.nest.map_structure(
            lambda spec, value: (
                PerReplicaSpec(*[spec] * replica_count) if is_distributed_value(value) else spec
            ),
            spec,
            arg,
        )
        for spec, arg in zip(signature, args, strict=True)
    )
