"""Putting integrations in place: now for libraries that are loaded, on import for the others."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
import threading
from collections.abc import Sequence
from types import ModuleType

_lock = threading.Lock()


def activate() -> None:
    """Installs the integration of Keras, or arranges that importing Keras does.

    Cheap after the first call, and safe from any thread.
    """
    if _waiting():
        return
    with _lock:
        if "keras" in sys.modules:
            _install()
        elif not _waiting():
            sys.meta_path.insert(0, _OnImport())


def _install() -> None:
    from tfdist.integrations import keras

    keras.install()


def _waiting() -> bool:
    return any(isinstance(finder, _OnImport) for finder in sys.meta_path)


class _OnImport(importlib.abc.MetaPathFinder):
    """Finds Keras as the other finders do, and installs the integration after it has loaded."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        del path, target
        if fullname != "keras":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(importlib.abc.Loader):
    def __init__(self, loader: importlib.abc.Loader) -> None:
        self._loader = loader

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        _install()
