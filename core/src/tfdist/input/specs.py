"""The types by which distributed datasets and iterators enter and leave a ``tf.function``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tfdist.input.readers import Reader

if TYPE_CHECKING:
    from typing_extensions import Self


class InputSpec(tf.TypeSpec):
    """What dataset and iterator specs share.

    Args:
        reader: How elements are read.
        element_spec: The spec of one step's element.
        strategy: Whose input this is.
        details: What else a value made from this spec needs; not compared.
    """

    __slots__ = ("_details", "_element_spec", "_reader", "_strategy")

    def __init__(self, reader: Reader, element_spec: Any, strategy: Any, details: Any) -> None:
        self._reader = reader
        self._element_spec = element_spec
        # The strategy is held so that its id, by which specs are told apart, is not given out anew.
        self._strategy = strategy
        self._details = details

    @property
    def element_spec(self) -> Any:
        """The spec of one step's element."""
        return self._element_spec

    @property
    def _input_workers(self) -> Any:
        return self._reader.workers

    def _serialize(self) -> tuple[Any, ...]:
        return (
            type(self._reader).__name__,
            repr(self._reader),
            self._element_spec,
            id(self._strategy),
        )

    def is_subtype_of(self, other: Any) -> bool:
        """Whether each value of this type is one of ``other``."""
        if not self._same_but_elements(other):
            return False
        pairs = zip(_flat(self._element_spec), _flat(other._element_spec), strict=True)
        return all(mine.is_subtype_of(theirs) for mine, theirs in pairs)

    def most_specific_common_supertype(self, others: Sequence[Any]) -> Self | None:
        """The narrowest type that this and ``others`` are all of; None where there is none."""
        if not all(self._same_but_elements(other) for other in others):
            return None
        columns = zip(
            _flat(self._element_spec), *(_flat(o._element_spec) for o in others), strict=True
        )
        merged = [first.most_specific_common_supertype(rest) for first, *rest in columns]
        if any(spec is None for spec in merged):
            return None
        return self._with_elements(tf.nest.pack_sequence_as(self._element_spec, merged))

    def _with_elements(self, element_spec: Any) -> Self:
        return type(self)(self._reader, element_spec, self._strategy, self._details)

    def _with_tensor_ranks_only(self) -> Self:
        return self._with_elements(
            tf.nest.map_structure(lambda s: s._with_tensor_ranks_only(), self._element_spec)
        )

    def _without_tensor_names(self) -> Self:
        return self._with_elements(
            tf.nest.map_structure(lambda s: s._without_tensor_names(), self._element_spec)
        )

    def _same_but_elements(self, other: Any) -> bool:
        if type(self) is not type(other) or self._strategy is not other._strategy:
            return False
        if self._reader != other._reader:
            return False
        try:
            tf.nest.assert_same_structure(self._element_spec, other._element_spec)
        except (TypeError, ValueError):
            return False
        return True


def _flat(element_spec: Any) -> list[Any]:
    return list(tf.nest.flatten(element_spec))
