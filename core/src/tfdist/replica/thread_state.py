"""State of other libraries that replica threads inherit from the thread that called ``run``."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack

Carrier = Callable[[], Callable[[], AbstractContextManager[object]]]

_carriers: list[Carrier] = []


def register(carrier: Carrier) -> None:
    """Adds a carrier of thread-local state, once.

    Args:
        carrier: Called in the thread that calls ``run``; returns a factory of context managers, one
            of which is entered in each replica thread.
    """
    if carrier not in _carriers:
        _carriers.append(carrier)


def capture() -> Callable[[], AbstractContextManager[object]]:
    """Takes down the state of all carriers; the result makes a context manager for a thread."""
    factories = [carrier() for carrier in _carriers]

    @contextlib.contextmanager
    def enter():  # type: ignore[no-untyped-def]
        with ExitStack() as stack:
            for factory in factories:
                stack.enter_context(factory())
            yield

    return enter
