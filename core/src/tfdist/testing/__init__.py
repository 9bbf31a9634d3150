"""What plugin authors test with: virtual devices, leak guards and conformance suites."""

from tfdist.testing.virtual_devices import (
    cpu_device_names,
    set_virtual_cpu_devices,
    set_virtual_cpu_devices_on_import,
)

__all__ = ["cpu_device_names", "set_virtual_cpu_devices", "set_virtual_cpu_devices_on_import"]
