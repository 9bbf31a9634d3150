"""Reductions by value or by name."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from tfdist.errors import OptionError


def as_reduce_op(reduce_op: Any) -> tf.distribute.ReduceOp:
    """``ReduceOp`` for a value or a name in any case.

    Raises:
        OptionError: It is neither ``SUM`` nor ``MEAN``.
    """
    if isinstance(reduce_op, tf.distribute.ReduceOp):
        return reduce_op
    if isinstance(reduce_op, str) and reduce_op.upper() in tf.distribute.ReduceOp.__members__:
        return tf.distribute.ReduceOp[reduce_op.upper()]
    raise OptionError(
        f"Cannot reduce with reduce_op={reduce_op!r}. Expected tf.distribute.ReduceOp.SUM or MEAN, "
        "or the strings 'SUM' and 'MEAN'. Pass one of those."
    )
