"""Library code called from a traced function, kept out of autograph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import tensorflow as tf

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


def unconverted(function: FunctionT) -> FunctionT:
    """The function as it is: it has nothing for autograph to convert, which takes time."""
    return cast(FunctionT, tf.autograph.experimental.do_not_convert(function))
