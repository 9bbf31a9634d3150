"""Reading the annotations of a target's parameters, those that only type checkers see included."""

import ast
import inspect
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any

UNKNOWN = object()
"""Stands for a part of an annotation that has no meaning at run time."""


def alternatives(annotation: object, target: Callable[..., Any]) -> tuple[object, ...]:
    """Split an annotation into the types it allows.

    Args:
        annotation: A type, a union, or the source text of either.
        target: The class or function it belongs to, whose module's names the text may use.

    Returns:
        The allowed types; `UNKNOWN` for each that cannot be resolved.
    """
    if annotation is inspect.Parameter.empty or annotation is Any:
        return (UNKNOWN,)
    if isinstance(annotation, str):
        scope = _names(target)
        parts = (_evaluate(source, scope) for source in _union_members(annotation))
        return tuple(kind for part in parts for kind in alternatives(part, target))
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return tuple(
            kind for part in typing.get_args(annotation) for kind in alternatives(part, target)
        )
    return (annotation,)


def describe(parameter: inspect.Parameter) -> str:
    """Write an annotation as it stands in the source."""
    annotation = parameter.annotation
    if annotation is inspect.Parameter.empty:
        return "any value"
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def _names(target: Callable[..., Any]) -> Mapping[str, Any]:
    module = inspect.getmodule(target)
    return vars(typing) | (vars(module) if module else {})


def _union_members(source: str) -> Iterable[str]:
    """Split `A | B | None` at its bars; one name that only type checkers know spoils no other."""
    try:
        node = ast.parse(source, mode="eval").body
    except SyntaxError:
        return [source]
    members: list[str] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        members.insert(0, ast.unparse(node.right))
        node = node.left
    return [ast.unparse(node), *members]


def _evaluate(source: str, scope: Mapping[str, Any]) -> object:
    try:
        # The text is the plugin's own source, which was imported already.
        value: object = eval(source, dict(scope))
    except (NameError, AttributeError, TypeError, SyntaxError):
        return UNKNOWN
    return UNKNOWN if isinstance(value, str) else value
