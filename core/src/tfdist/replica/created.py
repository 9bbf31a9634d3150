"""Variables that the user's function creates: once, by replica 0, for all replicas."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tfdist.errors import ValueMismatchError


class CreatedVariables:
    """The variables made in one ``run``, in the order in which replica 0 made them."""

    def __init__(self) -> None:
        self._variables: list[tuple[str, Any]] = []

    def creator(self, replica_id: int) -> Callable[..., Any]:
        """A variable creator for one replica: replica 0 creates, the others get what it made."""
        if replica_id == 0:
            return self._create
        count = 0

        def reuse(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
            nonlocal count
            del next_creator
            if count >= len(self._variables):
                raise _CreationError(
                    f"Cannot create variable {kwargs.get('name')!r} on replica {replica_id}. "
                    f"Replica 0 created {len(self._variables)} variables in this step and every "
                    "replica was expected to create the same ones. Create variables regardless of "
                    "the replica id, best once before the first step."
                )
            name, variable = self._variables[count]
            if _canonical(kwargs.get("name")) != name:
                raise _CreationError(
                    f"Cannot create variable {kwargs.get('name')!r} on replica {replica_id}. "
                    f"Replica 0 created {variable.name!r} at this place and every replica was "
                    "expected to create the same variables in the same order. Give variables the "
                    "same names on all replicas, best by creating them before the first step."
                )
            count += 1
            return variable

        return reuse

    def _create(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        variable = next_creator(**kwargs)
        self._variables.append((_canonical(kwargs.get("name")), variable))
        return variable


class _CreationError(ValueMismatchError, RuntimeError):
    """Also what TensorFlow raises there."""


def _canonical(name: str | None) -> str:
    """The name without the numbers that make it unique, which count on from replica to replica."""
    return re.sub(r"(_\d+)+(?=/|$)", "", name or "")
