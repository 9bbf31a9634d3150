"""What a thread needs to go on building or running where another thread stands. (2.21)"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any

from tensorflow.python.eager import context
from tensorflow.python.framework import ops
from tensorflow.python.ops import summary_ops_v2, variable_scope
from tensorflow.python.util import traceback_utils


@dataclasses.dataclass(frozen=True)
class ThreadState:
    """The thread-local state of TensorFlow at the place where :func:`capture` was called."""

    graph: Any
    in_eager: bool
    init_graph: Any
    init_in_eager: bool
    device_policy: Any
    op_callbacks: Any
    summary: tuple[Any, Any, Any, Any]
    variable_creators: Any
    variable_scope: Any
    name_scope: str
    traceback_filtering: bool

    @contextlib.contextmanager
    def enter(self, replica_id: int, device: str) -> Iterator[None]:
        """Makes the current thread stand where the captured one stood, on one replica's device."""
        state = summary_ops_v2._summary_state
        state.step, state.writer, state.is_recording, state.is_recording_distribution_strategy = (
            self.summary
        )
        context.context()._thread_local_data.op_callbacks = self.op_callbacks
        if self.traceback_filtering:
            traceback_utils.enable_traceback_filtering()
        else:
            traceback_utils.disable_traceback_filtering()
        name_scope = self.name_scope + "/" if self.name_scope else ""
        if replica_id:
            name_scope += f"replica_{replica_id}/"
        with (
            _graph(self.init_graph, self.init_in_eager, None),
            _graph(self.graph, self.in_eager, self.variable_creators),
            context.device_policy(self.device_policy),
            ops.device(device),
            ops.name_scope(name_scope or None),
            variable_scope.variable_scope(self.variable_scope, reuse=replica_id > 0 or None),
        ):
            yield


def capture() -> ThreadState:
    """Takes down the current thread's state, and readies the current graph for several threads."""
    context.ensure_initialized()
    ctx = context.context()
    graph = ops.get_default_graph()
    if not ctx.executing_eagerly():
        graph.switch_to_thread_local()
    with ops.init_scope():
        init_in_eager = context.executing_eagerly()
        init_graph = ops.get_default_graph()
    summary = summary_ops_v2._summary_state
    return ThreadState(
        graph=graph,
        in_eager=ctx.executing_eagerly(),
        init_graph=init_graph,
        init_in_eager=init_in_eager,
        device_policy=ctx.device_policy,
        op_callbacks=ctx._thread_local_data.op_callbacks,
        summary=(
            summary.step,
            summary.writer,
            summary.is_recording,
            summary.is_recording_distribution_strategy,
        ),
        variable_creators=graph._variable_creator_stack[:],
        variable_scope=variable_scope.get_variable_scope(),
        name_scope=graph.get_name_scope(),
        traceback_filtering=traceback_utils.is_traceback_filtering_enabled(),
    )


@dataclasses.dataclass(frozen=True)
class MeetingPlace:
    """Where in its program a replica thread stands when it waits for the others."""

    graph: Any
    in_eager: bool
    name_scope: str
    variable_scope: Any
    control_dependencies: tuple[Any, ...]


def meeting_place() -> MeetingPlace:
    """The place of the current thread."""
    graph = ops.get_default_graph()
    return MeetingPlace(
        graph=graph,
        in_eager=context.executing_eagerly(),
        name_scope=graph.get_name_scope(),
        variable_scope=variable_scope.get_variable_scope(),
        control_dependencies=tuple(graph._current_control_dependencies()),
    )


@contextlib.contextmanager
def at_meeting(places: list[MeetingPlace]) -> Iterator[None]:
    """Continues in the calling thread where the replica threads wait."""
    first = places[0]
    dependencies = {id(d): d for place in places for d in place.control_dependencies}
    with (
        ops.name_scope(first.name_scope + "/" if first.name_scope else None),
        ops.control_dependencies(list(dependencies.values())),
        variable_scope.variable_scope(first.variable_scope),
        context.eager_mode() if first.in_eager else contextlib.nullcontext(),
    ):
        yield


@contextlib.contextmanager
def _graph(graph: Any, eager: bool, creators: Any) -> Iterator[None]:
    with graph.as_default(), context.eager_mode() if eager else contextlib.nullcontext():
        if creators is not None:
            graph._variable_creator_stack = creators
        yield
