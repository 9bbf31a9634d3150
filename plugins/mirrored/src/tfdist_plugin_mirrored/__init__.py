"""Strategies for one host with several devices, and cross-device ops for them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfdist_plugin_mirrored.central_storage import CentralStorageStrategy
    from tfdist_plugin_mirrored.hierarchical_copy import HierarchicalCopyAllReduce
    from tfdist_plugin_mirrored.nccl import NcclAllReduce
    from tfdist_plugin_mirrored.strategy import MirroredStrategy

__all__ = [
    "CentralStorageStrategy",
    "HierarchicalCopyAllReduce",
    "MirroredStrategy",
    "NcclAllReduce",
]

# Imported when asked for: listing plugins must not import TensorFlow.
_MODULES = {
    "CentralStorageStrategy": "central_storage",
    "HierarchicalCopyAllReduce": "hierarchical_copy",
    "MirroredStrategy": "strategy",
    "NcclAllReduce": "nccl",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
