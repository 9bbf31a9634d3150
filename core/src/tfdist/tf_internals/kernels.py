"""Which kernels this build of TensorFlow has."""

from tensorflow.python.framework import kernels

# The kernels of an op in this build: no NcclAllReduce kernel means a build without NCCL. (2.21)
_kernels_of = kernels.get_registered_kernels_for_op


def has_kernel(op_name: str, device_type: str) -> bool:
    """Whether an op can run on a type of device (``"CPU"``, ``"GPU"``) with this build."""
    return any(each.device_type == device_type for each in _kernels_of(op_name).kernel)
