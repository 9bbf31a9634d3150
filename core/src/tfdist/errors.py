"""What tfdist raises. Each class also derives from the builtin that fits, so plain excepts work."""


class TfdistError(Exception):
    """Base of every error of tfdist."""

    # Without this, autograph would turn the error into one of its own on the way out of a
    # tf.function, which ``except TfdistError`` does not catch.
    ag_pass_through = True


class OptionError(TfdistError, ValueError):
    """An option, argument or setting has a value that cannot be used."""


class UnknownNameError(TfdistError, ValueError):
    """A strategy, cross-device op or other plugin object was asked for by a name nobody offers."""


class PluginError(TfdistError, RuntimeError):
    """A plugin could not be loaded, is incompatible, or clashes with another."""


class DeviceError(TfdistError, ValueError):
    """A device does not exist, repeats, or does not fit beside the others."""


class ContextError(TfdistError, RuntimeError):
    """Something was used in the wrong place: cross-replica, replica or update context, or scope."""


class DatasetError(TfdistError, TypeError):
    """What should be distributed is not a dataset, or its elements cannot be split."""


class ValueMismatchError(TfdistError, ValueError):
    """Values of the replicas do not fit together, or belong to another strategy."""


class UnavailableError(TfdistError, RuntimeError):
    """Hardware or software that was asked for is not on this machine."""


class TensorFlowMissingError(TfdistError, ImportError):
    """TensorFlow is needed and not installed."""
