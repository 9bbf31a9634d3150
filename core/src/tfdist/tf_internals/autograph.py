"""Autograph conversion as tf.function's callers would have had it. (2.21)"""

from collections.abc import Callable
from typing import Any

from tensorflow.python.autograph.core import ag_ctx
from tensorflow.python.autograph.impl import api


def convert(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Converts ``fn`` if the calling code is being converted; else gives it back as it is."""
    return api.tf_convert(fn, ag_ctx.control_status_ctx(), convert_by_default=False)
