"""Small tools of the suites."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

MODES = ("eager", "graph")


def in_mode(mode: str, fn: Callable[..., Any]) -> Callable[..., Any]:
    """`fn` itself, or as a graph function."""
    # No autograph: the functions here have no control flow, and it cannot read nested lambdas.
    return tf.function(fn, autograph=False) if mode == "graph" else fn


def per_replica(strategy: Any, values: Sequence[Any]) -> Any:
    """A distributed value with the i-th of `values` on the i-th replica."""
    return strategy.experimental_distribute_values_from_function(
        lambda context: tf.convert_to_tensor(values[context.replica_id_in_sync_group])
    )


def local(strategy: Any, value: Any) -> list[np.ndarray[Any, Any]]:
    """The components of a value, one a replica, as arrays."""
    return [np.asarray(part) for part in strategy.experimental_local_results(value)]


def rows(replica_count: int, *, uneven: bool = False) -> list[np.ndarray[Any, Any]]:
    """A matrix of three columns a replica, all numbers different: 2 rows, or 1, 2, 3, ... rows."""
    counts = [i + 1 if uneven else 2 for i in range(replica_count)]
    table = np.arange(3 * sum(counts), dtype=np.float32).reshape(-1, 3)
    return list(np.split(table, np.cumsum(counts)[:-1]))


def assert_equal(actual: Any, expected: Any) -> None:
    """Equal shape and equal to float tolerance."""
    array, wanted = np.asarray(actual), np.asarray(expected)
    assert array.shape == wanted.shape
    np.testing.assert_allclose(array, wanted, rtol=1e-6, atol=1e-6)


def assert_all_equal(actual: Sequence[Any], expected: Sequence[Any]) -> None:
    """As many as expected, each equal."""
    assert len(actual) == len(expected)
    for one, other in zip(actual, expected, strict=True):
        assert_equal(one, other)
