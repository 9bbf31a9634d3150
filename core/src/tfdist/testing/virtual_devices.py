"""Virtual CPU devices: one processor that TensorFlow takes for several.

Their number is fixed when TensorFlow's runtime starts, so it is set once a process, right after
TensorFlow has been imported and before anything was computed.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from tfdist.errors import DeviceError


def cpu_device_names(count: int) -> list[str]:
    """The names of the first `count` CPU devices: `["CPU:0", "CPU:1", ...]`."""
    return [f"CPU:{i}" for i in range(count)]


def set_virtual_cpu_devices(count: int) -> None:
    """Make TensorFlow show `count` CPU devices; imports TensorFlow.

    Args:
        count: How many; at least 1.

    Raises:
        DeviceError: If the runtime has been started with another number.
    """
    import tensorflow as tf

    host = tf.config.list_physical_devices("CPU")[0]
    try:
        tf.config.set_logical_device_configuration(
            host, [tf.config.LogicalDeviceConfiguration() for _ in range(count)]
        )
    except RuntimeError as error:
        seen = len(tf.config.list_logical_devices("CPU"))
        if seen != count:
            raise DeviceError(
                f"Cannot set up {count} virtual CPU devices. "
                f"TensorFlow has already started with {seen}, and their number is fixed then. "
                "Set them up before anything is computed, for example before module-level tensors."
            ) from error


def set_virtual_cpu_devices_on_import(count: int) -> None:
    """Do `set_virtual_cpu_devices(count)` as soon as somebody imports TensorFlow.

    Programs that never import it do not pay for it.
    """
    if "tensorflow" in sys.modules:
        set_virtual_cpu_devices(count)
    else:
        sys.meta_path.insert(0, _TensorFlowFinder(count))


class _TensorFlowFinder(MetaPathFinder):
    """Finds TensorFlow as Python would, and gives it a loader that adds the devices."""

    def __init__(self, count: int) -> None:
        self._count = count

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        if fullname != "tensorflow":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _LoaderWithDevices(spec.loader, self._count)
        return spec


class _LoaderWithDevices(Loader):
    def __init__(self, loader: Loader, count: int) -> None:
        self._loader = loader
        self._count = count

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        set_virtual_cpu_devices(self._count)
