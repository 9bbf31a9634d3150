"""The suite asks nothing that TensorFlow's own strategy does not do: users come from there."""

import pytest
import tensorflow as tf

from tfdist.testing.conformance import StrategyConformance


@pytest.mark.filterwarnings("ignore:To make it possible to preserve tf.data options:UserWarning")
class TestTensorFlow(StrategyConformance):
    name = "mirrored"
    replica_counts = (2,)

    @pytest.fixture
    def strategy(self, cpu_devices) -> tf.distribute.Strategy:
        # Its default for several devices is NCCL, which needs GPUs.
        ops = tf.distribute.ReductionToOneDevice()
        return tf.distribute.MirroredStrategy(cpu_devices(2), cross_device_ops=ops)
