"""Variables that the user's function creates: once, by replica 0, for all replicas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.errors import ValueMismatchError


class CreatedVariables:
    """The variables made in one ``run``, in the order in which replica 0 made them."""

    def __init__(self) -> None:
        self._variables: list[Any] = []

    def creator(self, replica_id: int) -> Callable[..., Any]:
        """A variable creator for one replica: replica 0 creates, the others get what it made."""
        if replica_id == 0:
            return self._create
        count = 0

        def reuse(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
            nonlocal count
            del next_creator
            if count >= len(self._variables):
                raise ValueMismatchError(
                    f"Cannot create variable {kwargs.get('name')!r} on replica {replica_id}. "
                    f"Replica 0 created {len(self._variables)} variables in this step and every "
                    "replica was expected to create the same ones. Create variables regardless of "
                    "the replica id, best once before the first step."
                )
            variable = self._variables[count]
            count += 1
            return variable

        return reuse

    def _create(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        variable = next_creator(**kwargs)
        self._variables.append(variable)
        return variable
