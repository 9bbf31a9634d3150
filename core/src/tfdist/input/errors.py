"""Errors of this package that users may also know by the builtin class TensorFlow raises."""

from tfdist.errors import ContextError, DatasetError


class UnsplittableError(DatasetError, ValueError):
    """The elements of a dataset have no batch dimension along which to split them."""


class IterationContextError(ContextError, ValueError):
    """An iterator was read inside the function that runs on each replica, or in another scope."""


class EnumerateError(ContextError, NotImplementedError):
    """``enumerate`` over distributed input inside a ``tf.function``."""
