"""Putting a function of ours around one of Keras's."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import tensorflow as tf

_MARK = "_tfdist_around"


def around(owner: Any, name: str, replacement: Callable[..., Any]) -> None:
    """Makes ``owner.name(...)`` call ``replacement(original, ...)``, once.

    Args:
        owner: A module or class that defines ``name`` itself.
        name: The function to go around; its signature stays readable through ``__wrapped__``.
        replacement: Takes the original as its first argument and decides whether to call it.
    """
    original = vars(owner)[name]
    if hasattr(original, _MARK):
        return

    # AutoGraph must not rewrite Keras's code or this package's when a user's tf.function calls it.
    @tf.autograph.experimental.do_not_convert
    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        return replacement(original, *args, **kwargs)

    setattr(call, _MARK, replacement)
    setattr(owner, name, call)


def around_in_subclasses(base: Any, name: str, replacement: Callable[..., Any]) -> None:
    """``around`` for each class derived from ``base`` that defines ``name``, also later ones."""

    def visit(cls: Any) -> None:
        if name in vars(cls):
            around(cls, name, replacement)
        for derived in cls.__subclasses__():
            visit(derived)

    def init_subclass(cls: Any, /, **kwargs: Any) -> None:
        super(base, cls).__init_subclass__(**kwargs)
        if name in vars(cls):
            around(cls, name, replacement)

    visit(base)
    base.__init_subclass__ = classmethod(init_subclass)
