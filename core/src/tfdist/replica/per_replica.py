"""The per-replica way to run: one thread a replica, one running at a time.

A replica runs until it must meet the others (``merge_call`` and what is built on it) or ends; then
the next one runs. When all have stopped, the thread that called ``run`` does what they met for, and
gives each its share. The order never varies, so results are deterministic.
"""

from __future__ import annotations

import ctypes
import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from tfdist.errors import ContextError, ValueMismatchError
from tfdist.replica import thread_state
from tfdist.replica.context import ReplicaContext
from tfdist.replica.created import CreatedVariables
from tfdist.replica.hoisted import HoistedFunctions
from tfdist.tf_internals import autograph, threads
from tfdist.values import regroup, select_replica

_log = logging.getLogger(__name__)

# How long an interrupted run waits for its threads to come back from the op they are in.
_STOP_GRACE_S = 10.0


class _Stop(BaseException):
    """Unwinds a replica thread that is no longer wanted."""


class PerReplicaRunner:
    """Runs the replicas of one process one after the other, a thread each."""

    def __init__(self) -> None:
        self._hoisted = HoistedFunctions(_run)

    def run(
        self,
        strategy: tf.distribute.Strategy,
        fn: Callable[..., Any],
        args: Sequence[Any],
        kwargs: dict[str, Any],
    ) -> Any:
        """Calls ``fn`` in each replica context, in the strategy's scope.

        Raises:
            ValueMismatchError: Replicas met a different number of times, or returned structures
                that do not fit together.
            ContextError: Replicas would have to meet inside control flow or a nested function.
        """
        if isinstance(fn, tf.types.experimental.PolymorphicFunction) and not fn._jit_compile:
            return self._hoisted.run(strategy, fn, tuple(args), kwargs)
        return _run(strategy, autograph.convert(fn), args, kwargs)


def _run(strategy: Any, fn: Callable[..., Any], args: Sequence[Any], kwargs: Any) -> Any:
    return _Run(strategy, fn, args, kwargs).result()


class _Run:
    """One call of ``run``: its replica threads, and the meetings between them."""

    def __init__(
        self,
        strategy: tf.distribute.Strategy,
        fn: Callable[..., Any],
        args: Sequence[Any],
        kwargs: dict[str, Any],
    ) -> None:
        self._strategy = strategy
        created = CreatedVariables()
        state, carried = threads.capture(), thread_state.capture()
        self._replicas = [
            _Replica(i, device, strategy, fn, select_replica(i, (tuple(args), kwargs)), created)
            for i, device in enumerate(strategy.extended.worker_devices)
        ]
        for replica in self._replicas:
            replica.prepare(state, carried)

    def result(self) -> Any:
        try:
            while not self._advance():
                self._meet()
        except BaseException:
            self._abandon()
            raise
        for replica in self._replicas:
            replica.thread.join()
        return regroup([replica.result for replica in self._replicas])

    def _advance(self) -> bool:
        """Lets each replica run to its next meeting or its end; True when all have ended."""
        for replica in self._replicas:
            replica.resume()
        ended = [r for r in self._replicas if r.ended]
        if not ended:
            return False
        if len(ended) < len(self._replicas):
            waiting = [r.index for r in self._replicas if not r.ended]
            raise ValueMismatchError(
                f"Cannot finish the step: replicas {[r.index for r in ended]} have returned while "
                f"replicas {waiting} wait to meet them in merge_call, all_reduce or a variable "
                "update. Every replica was expected to meet the others equally often. Make the "
                "calls independent of the replica id and of the replica's data."
            )
        return True

    def _meet(self) -> None:
        calls = [replica.call for replica in self._replicas]
        places = [call.place for call in calls]
        args = regroup([call.args for call in calls])
        kwargs = regroup([call.kwargs for call in calls])
        with threads.at_meeting(places):
            merged = calls[0].fn(self._strategy, *args, **kwargs)
        for i, replica in enumerate(self._replicas):
            replica.answer = select_replica(i, merged)

    def _abandon(self) -> None:
        for replica in self._replicas:
            replica.stop()
        for replica in self._replicas:
            if replica.thread.ident is not None:
                replica.thread.join(_STOP_GRACE_S)
                if replica.thread.is_alive():
                    _log.warning(
                        "replica %d is still inside an op %.0f s after the step was stopped; its "
                        "thread ends when the op does",
                        replica.index,
                        _STOP_GRACE_S,
                    )


class _Call:
    """What one replica wants to happen at a meeting."""

    def __init__(self, fn: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        self.fn, self.args, self.kwargs = fn, tuple(args), kwargs
        self.place = threads.meeting_place()


class _Replica:
    """One replica: its thread, and the hand-over of control to it and back."""

    def __init__(
        self,
        index: int,
        device: str,
        strategy: tf.distribute.Strategy,
        fn: Callable[..., Any],
        inputs: Any,
        created: CreatedVariables,
    ) -> None:
        self.index, self._device, self._strategy = index, device, strategy
        self._fn, self._inputs, self._created = fn, inputs, created
        self._go, self._paused = threading.Event(), threading.Event()
        self._stopped = False
        self._graph: Any = None
        self.error: BaseException | None = None
        self.call: _Call
        self.answer: Any = None
        self.result: Any = None
        self.ended = False

    def prepare(self, state: threads.ThreadState, carried: Any) -> None:
        self._graph = state.graph
        self.thread = threading.Thread(
            target=self._main, args=(state, carried), name=f"replica-{self.index}", daemon=True
        )

    def resume(self) -> None:
        """Runs this replica until it pauses. Its error, if any, is raised here."""
        self._paused.clear()
        self._go.set()
        if self.thread.ident is None:
            self.thread.start()
        self._paused.wait()
        if self.error is not None:
            raise self.error

    def stop(self) -> None:
        """Ends the thread: at once where it waits, at its next bytecode where it runs."""
        self._stopped = True
        running = self.thread.ident is not None and not self._paused.is_set()
        self._go.set()
        if running:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(self.thread.ident or 0), ctypes.py_object(_Stop)
            )

    def merge(self, fn: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Called in the replica's thread: waits for the others; returns its share."""
        self.call = _Call(fn, args, kwargs)
        if self.call.place.graph is not self._graph:
            raise ContextError(
                f"Cannot let replica {self.index} meet the others here: `merge_call` called while "
                "defining a new graph. It is inside control flow or a nested tf.function, which "
                "each replica builds for itself, while a meeting (merge_call, all_reduce, an "
                "aggregating variable update) belongs to the step as a whole. Move it out of the "
                "tf.cond, tf.while_loop or inner tf.function, or put tf.function around "
                "strategy.run()."
            )
        self._go.clear()
        self._paused.set()
        self._go.wait()
        if self._stopped:
            raise _Stop
        return self.answer

    def _main(self, state: threads.ThreadState, carried: Any) -> None:
        context = ReplicaContext(self._strategy, self.index, self)
        creator = self._created.creator(self.index)
        args, kwargs = self._inputs
        try:
            with (
                state.enter(self.index, self._device),
                carried(),
                context,
                tf.variable_creator_scope(creator),
            ):
                self.result = self._fn(*args, **kwargs)
            self.ended = True
        except _Stop:
            pass
        except BaseException as error:  # noqa: BLE001 - raised in the thread that called run
            self.error = error
        finally:
            self._paused.set()
