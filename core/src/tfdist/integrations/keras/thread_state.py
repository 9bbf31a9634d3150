"""Keras's thread-local state, carried into the threads of the replicas."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from keras.src.backend.common import global_state

# Made on first use, to last: what a replica makes, the thread that called `run` gets.
_LASTING = ("global_seed_generator", "object_name_uids")


def carrier() -> Callable[[], AbstractContextManager[None]]:
    """Takes down the state of this thread; the result puts it into another."""
    trackers = (global_state.GLOBAL_STATE_TRACKER, global_state.GLOBAL_SETTINGS_TRACKER)
    states = [vars(tracker) for tracker in trackers]
    snapshots = [{name: _copy(value) for name, value in state.items()} for state in states]

    @contextmanager
    def enter() -> Iterator[None]:
        own = [vars(tracker) for tracker in trackers]
        before = [dict(state) for state in own]
        for state, snapshot in zip(own, snapshots, strict=True):
            state.update({name: _copy(value) for name, value in snapshot.items()})
        try:
            yield
        finally:
            for state, original, parent in zip(own, before, states, strict=True):
                lasting = {name: state[name] for name in _LASTING if name in state}
                state.clear()
                state.update(original)
                for name, value in lasting.items():
                    parent.setdefault(name, value)

    return enter


def _copy(value: Any) -> Any:
    # Stacks of scopes are lists: each replica pushes and pops its own.
    return list(value) if isinstance(value, list) else value
