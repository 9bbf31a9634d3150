"""Distributed training for TensorFlow, built from plugins.

>>> import tfdist
>>> strategy = tfdist.strategy("mirrored")
>>> with strategy.scope():
...     model = build_model()

Importing this package imports no TensorFlow; names that need it load when they are first used.
"""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfdist import errors
    from tfdist.cross_device import CrossDeviceOps
    from tfdist.errors import TfdistError
    from tfdist.hookspecs import hookimpl, hookspec
    from tfdist.selection import strategies, strategy
    from tfdist.specs import (
        Capabilities,
        CommandSpec,
        CrossDeviceOpsSpec,
        FailureHandlerSpec,
        InputSpec,
        StrategySpec,
    )
    from tfdist.strategies.base import Strategy
    from tfdist.strategies.one_device import OneDeviceStrategy
    from tfdist.values import Mirrored, PerReplica
    from tfdist.version import VERSION

    __version__ = VERSION

_HOMES = {
    "Capabilities": "tfdist.specs",
    "CommandSpec": "tfdist.specs",
    "CrossDeviceOps": "tfdist.cross_device",
    "CrossDeviceOpsSpec": "tfdist.specs",
    "FailureHandlerSpec": "tfdist.specs",
    "InputSpec": "tfdist.specs",
    "Mirrored": "tfdist.values",
    "OneDeviceStrategy": "tfdist.strategies.one_device",
    "PerReplica": "tfdist.values",
    "Strategy": "tfdist.strategies.base",
    "StrategySpec": "tfdist.specs",
    "TfdistError": "tfdist.errors",
    "hookimpl": "tfdist.hookspecs",
    "hookspec": "tfdist.hookspecs",
    "strategies": "tfdist.selection",
    "strategy": "tfdist.selection",
}

__all__ = [
    "Capabilities",
    "CommandSpec",
    "CrossDeviceOps",
    "CrossDeviceOpsSpec",
    "FailureHandlerSpec",
    "InputSpec",
    "Mirrored",
    "OneDeviceStrategy",
    "PerReplica",
    "Strategy",
    "StrategySpec",
    "TfdistError",
    "__version__",
    "errors",
    "hookimpl",
    "hookspec",
    "strategies",
    "strategy",
]


def __getattr__(name: str) -> Any:
    if name == "errors":
        return importlib.import_module("tfdist.errors")
    if name == "__version__":
        return importlib.import_module("tfdist.version").VERSION
    if name not in _HOMES:
        raise AttributeError(f"module 'tfdist' has no attribute {name!r}")
    return getattr(_home(name), name)


def _home(name: str) -> ModuleType:
    try:
        return importlib.import_module(_HOMES[name])
    except ModuleNotFoundError as error:
        if error.name != "tensorflow":
            raise
        missing = importlib.import_module("tfdist.selection").tensorflow_missing
        raise missing(f"tfdist.{name}") from error


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """Keeps `tfdist.strategies` the function, although a subpackage goes by the same name.

    The import system sets a subpackage as an attribute of its parent when it is first imported.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if name != "strategies" or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
