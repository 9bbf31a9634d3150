"""What a test must not leave behind: threads, child processes, environment variables, ports."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psutil
from attrs import frozen

# What is winding down when the test's body ends may take this long.
GRACE_S = 2.0
_POLL_S = 0.02
# Set by pytest itself for each phase of a test.
_PYTEST_VARIABLES = frozenset({"PYTEST_CURRENT_TEST"})


def live_threads() -> set[threading.Thread]:
    """The threads of this process that Python knows of."""
    return {thread for thread in threading.enumerate() if thread.is_alive()}


def child_processes() -> set[psutil.Process]:
    """The living descendants of this process."""
    children = psutil.Process().children(recursive=True)
    return {child for child in children if _is_alive(child)}


def _is_alive(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def listening_ports() -> set[tuple[str, int]]:
    """Addresses and ports on which this process waits for connections."""
    connections = psutil.Process().net_connections(kind="inet")
    return {
        (connection.laddr.ip, connection.laddr.port)
        for connection in connections
        if connection.status == psutil.CONN_LISTEN
        or (connection.type == socket.SOCK_DGRAM and connection.laddr)
    }


def environment() -> set[tuple[str, str]]:
    """The environment variables that a test answers for."""
    return {item for item in os.environ.items() if item[0] not in _PYTEST_VARIABLES}


def _thread_text(thread: threading.Thread) -> str:
    kind = "daemon thread" if thread.daemon else "thread"
    return f"{kind} {thread.name!r}"


def _process_text(process: psutil.Process) -> str:
    try:
        return f"process {process.pid} ({' '.join(process.cmdline())[:120]})"
    except psutil.NoSuchProcess:
        return f"process {process.pid}"


@frozen
class Guard:
    """One kind of thing that must be as before when a test is over.

    Attributes:
        name: The kind, as the ini option has it.
        look: Returns what there is now.
        describe: One thing in words.
    """

    name: str
    look: Callable[[], set[Any]]
    describe: Callable[[Any], str]


GUARDS: dict[str, Guard] = {
    guard.name: guard
    for guard in (
        Guard("threads", live_threads, _thread_text),
        Guard("processes", child_processes, _process_text),
        Guard("ports", listening_ports, lambda port: f"port {port}"),
    )
}
NAMES = (*GUARDS, "environment")


class LeakError(AssertionError):
    """A test left something behind."""


@contextmanager
def no_leaks(*names: str, grace_s: float = GRACE_S) -> Iterator[None]:
    """Fail if what runs inside leaves something behind.

    Args:
        *names: What to look at: `"threads"`, `"processes"`, `"ports"`, `"environment"`.
        grace_s: How long things may take to go away.

    Raises:
        LeakError: With everything that was left. Environment variables have been put back then.
    """
    guards = [GUARDS[name] for name in names if name != "environment"]
    before = {guard.name: guard.look() for guard in guards}
    variables = environment()
    had_tensorflow = "tensorflow" in sys.modules
    yield
    left = [text for guard in guards for text in _wait_until_gone(guard, before, grace_s)]
    # Importing TensorFlow sets variables of its own, once a process.
    if "environment" in names and had_tensorflow == ("tensorflow" in sys.modules):
        left += _restore_environment(dict(variables))
    if left:
        raise LeakError("The test left behind: " + "; ".join(left))


def _wait_until_gone(guard: Guard, before: dict[str, set[Any]], grace_s: float) -> list[str]:
    deadline = time.monotonic() + grace_s
    while left := guard.look() - before[guard.name]:
        if time.monotonic() >= deadline:
            break
        time.sleep(_POLL_S)
    return sorted(guard.describe(item) for item in left)


def _restore_environment(variables: dict[str, str]) -> list[str]:
    now = dict(environment())
    changed = sorted(
        name for name in variables.keys() | now.keys() if variables.get(name) != now.get(name)
    )
    for name in changed:
        if name in variables:
            os.environ[name] = variables[name]
        else:
            del os.environ[name]
    return [f"environment variable {name}" for name in changed]
