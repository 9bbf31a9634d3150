"""Turning the text of an option into a value of the type that the target asks for."""

import collections.abc
import typing
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

from tfdist.selection.annotations import UNKNOWN

_TRUTH: Mapping[str, bool] = {
    "true": True, "yes": True, "on": True, "1": True,
    "false": False, "no": False, "off": False, "0": False,
}  # fmt: skip

_SEQUENCES: Mapping[object, Callable[[list[Any]], Any]] = {
    list: list,
    tuple: tuple,
    set: set,
    frozenset: frozenset,
    collections.abc.Sequence: list,
    collections.abc.Iterable: list,
    collections.abc.Collection: list,
}


def convert(text: str, kinds: Sequence[object]) -> object:
    """Turn text into a value of one of several types, the strictest that takes it.

    Sequences are written with commas (`CPU:0,CPU:1`), truth as `true` or `false`, an absent value
    as `none`, members of an enum by name.

    Raises:
        ValueError: If no type takes the text.
    """
    kinds = [str if kind is UNKNOWN else kind for kind in kinds]
    for kind in sorted(kinds, key=lambda kind: _looseness(kind, text)):
        try:
            return _read(text, kind)
        except (ValueError, KeyError):
            continue
    raise ValueError(text)


def _looseness(kind: object, text: str) -> int:
    """Order types so that text becomes what it looks like: a string only when nothing else fits."""
    if kind is str:
        return 3
    if _sequence_of(kind) is not None:
        return 2 if "," in text or not text else 4
    order = {type(None): 0, bool: 1 if text.lower() in ("true", "false") else 2, int: 1, float: 1}
    return order.get(kind, 2) if isinstance(kind, type) else 1


def _read(text: str, kind: object) -> object:
    if kind is None or kind is type(None):
        return {"none": None}[text.lower()]
    if kind is bool:
        return _TRUTH[text.lower()]
    if kind in (int, float, str, Path) and callable(kind):
        return kind(text)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _member(text, kind)
    if typing.get_origin(kind) is typing.Literal:
        return {str(value): value for value in typing.get_args(kind)}[text]
    if (make := _sequence_of(kind)) is not None:
        return make(_items(text, kind))
    raise ValueError(text)


def _member(text: str, kind: type[Enum]) -> Enum:
    return {name.lower(): member for name, member in kind.__members__.items()}[text.lower()]


def _sequence_of(kind: object) -> Callable[[list[Any]], Any] | None:
    return _SEQUENCES.get(typing.get_origin(kind) or kind)


def _items(text: str, kind: object) -> list[object]:
    parts = [part.strip() for part in text.split(",")] if text else []
    inner = typing.get_args(kind) or (str,)
    if typing.get_origin(kind) is tuple and inner[-1] is not Ellipsis:
        return [convert(part, [one]) for part, one in zip(parts, inner, strict=True)]
    return [convert(part, [inner[0]]) for part in parts]


def fits(value: object, kinds: Sequence[object]) -> bool:
    """Whether a value given in Python may be of one of several types; what is unclear may."""
    return any(_may_be(value, kind) for kind in kinds)


def _may_be(value: object, kind: object) -> bool:
    if kind is UNKNOWN:
        return True
    if kind is None or kind is type(None):
        return value is None
    origin = typing.get_origin(kind) or kind
    if origin is typing.Literal:
        return value in typing.get_args(kind)
    if origin is bool:
        return isinstance(value, bool)
    if origin in (int, float):
        return not isinstance(value, (bool, str)) and hasattr(
            value, "__index__" if origin is int else "__float__"
        )
    if _sequence_of(origin) is not None:
        return isinstance(value, collections.abc.Iterable) and not isinstance(value, (str, bytes))
    if isinstance(origin, type) and not getattr(origin, "_is_protocol", False):
        return isinstance(value, origin)
    return True
