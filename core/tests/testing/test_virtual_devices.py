import pytest

from tfdist.errors import DeviceError
from tfdist.testing import cpu_device_names, set_virtual_cpu_devices


def test_names():
    assert cpu_device_names(3) == ["CPU:0", "CPU:1", "CPU:2"]


def test_the_number_cannot_change_once_tensorflow_runs(virtual_devices):
    import tensorflow as tf

    tf.constant(1)
    set_virtual_cpu_devices(len(virtual_devices))
    with pytest.raises(DeviceError, match="already started with 8"):
        set_virtual_cpu_devices(3)
