"""All-reduce by NVIDIA's NCCL, between GPUs of this process."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from tfdist.cross_device import AllReduceOps, missing_for_nccl, on_device
from tfdist.errors import UnavailableError

# What the kernel takes, less int32, which TensorFlow keeps in host memory on GPUs.
_DTYPES = (tf.float16, tf.float32, tf.float64, tf.int64)


class NcclAllReduce(AllReduceOps):
    """Sums tensors of several GPUs with NCCL.

    Values of other dtypes or on other devices, ``tf.IndexedSlices``, and results for other devices
    than the values' are reduced on one device instead.

    Args:
        num_packs: How many packs the dense tensors of a batch travel in; 0 packs nothing.

    Raises:
        OptionError: ``num_packs`` is negative or not an integer.
    """

    def __init__(self, num_packs: int = 1) -> None:
        super().__init__(num_packs)
        self._eager: dict[tuple[str, ...], Callable[..., Any]] = {}

    def check_devices(self, devices: Sequence[str]) -> None:
        """Refuses devices that aren't GPUs of their own, and a TensorFlow without NCCL.

        Raises:
            UnavailableError: NCCL cannot serve these devices.
        """
        missing = missing_for_nccl(devices)
        if missing:
            raise UnavailableError(
                f"Cannot use the cross-device ops 'nccl' for {', '.join(devices)}. NCCL needs a "
                f"physical GPU for each device and a TensorFlow built for CUDA, but {missing}. "
                "Choose cross_device_ops='auto', 'hierarchical_copy' or 'reduction_to_one_device'."
            )

    def can_all_reduce(self, tensors: Sequence[tf.Tensor], devices: Sequence[str]) -> bool:
        """Whether these are tensors that NCCL sums, each on a GPU of its own."""
        types = {tf.DeviceSpec.from_string(device).device_type for device in devices}
        return (
            types == {"GPU"}
            and len(set(devices)) == len(devices)
            and tensors[0].dtype in _DTYPES
            and all(tensor.shape.is_compatible_with(tensors[0].shape) for tensor in tensors)
        )

    def all_reduce_sum(
        self, tensors: Sequence[tf.Tensor], devices: Sequence[str], turn: int
    ) -> list[tf.Tensor]:
        """The sum on each device, from one NCCL all-reduce.

        *Cost*: what NCCL's ring or tree takes for the bytes of the tensor.
        """
        del turn
        if not tf.executing_eagerly():
            return list(_reduction(tuple(devices))(*tensors))
        # One function for all eager reductions between these devices: tracing takes milliseconds.
        reduce = self._eager.setdefault(tuple(devices), _reduction(tuple(devices)))
        return list(reduce(*tensors))


def _reduction(devices: tuple[str, ...]) -> Callable[..., Any]:
    """A function from one tensor a device to their sum on each device.

    The kernels of one reduction wait for each other, so all of them, and all of their gradients,
    must run together. A function of its own sees to both: eagerly its ops run concurrently, and its
    gradient fills in zeros for results that were not used.
    """

    @tf.function(reduce_retracing=True)
    def tfdist_nccl_all_reduce(*tensors: tf.Tensor) -> list[tf.Tensor]:
        name = f"tfdist_{uuid.uuid4().hex}"
        return [
            _sum_on(device, tensor, name, len(devices))
            for device, tensor in zip(devices, tensors, strict=True)
        ]

    return tfdist_nccl_all_reduce


def _sum_on(device: str, tensor: tf.Tensor, name: str, count: int) -> tf.Tensor:
    """One device's part in the reduction ``name`` among ``count`` devices.

    TensorFlow's gradient of the op wants the incoming gradient to have a device, which one that
    enters through a function's argument has not.
    """

    @tf.custom_gradient
    def part(value: tf.Tensor) -> tuple[tf.Tensor, Callable[[tf.Tensor], tf.Tensor]]:
        result = tf.raw_ops.NcclAllReduce(
            input=value, reduction="sum", num_devices=count, shared_name=name
        )
        return result, lambda upstream: _sum_on(device, upstream, name + "_gradient", count)

    with on_device(device):
        return part(tensor)
