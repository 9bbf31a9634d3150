"""Devices and type specs as TensorFlow spells them."""

from tensorflow.python.distribute import device_util

# Canonical full device names ("/job:localhost/replica:0/task:0/device:CPU:0"). (2.21)
canonicalize_device = device_util.canonicalize
# The same with parts that are missing taken from the device in force. (2.21)
resolve_device = device_util.resolve
# The device that ops created now would be asked to run on; "" without one. (2.21)
_current = device_util.current


def current_device() -> str:
    """The canonical name of the device in force where this is called, or the empty string."""
    device = _current()
    return canonicalize_device(device) if device else ""
