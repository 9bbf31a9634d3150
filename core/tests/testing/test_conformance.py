"""The suites notice what is wrong: otherwise passing them would mean little."""

import pytest

pytest_plugins = ["pytester"]

FAULTY_OP = """
import pytest
import tensorflow as tf
from tfdist.cross_device import ReductionToOneDevice
from tfdist.testing.conformance import CrossDeviceOpsConformance

class ForgetsTheMean(ReductionToOneDevice):
    def reduce_implementation(self, reduce_op, value, destinations, options):
        return super().reduce_implementation(
            tf.distribute.ReduceOp.SUM, value, destinations, options
        )

class ForgetsTheOrder(ReductionToOneDevice):
    def gather_implementation(self, value, destinations, axis, options):
        backwards = type(value)(value.values[::-1])
        return super().gather_implementation(backwards, destinations, axis, options)

class Faulty(CrossDeviceOpsConformance):
    name = "reduction_to_one_device"
    device_counts = (2,)

class TestMean(Faulty):
    @pytest.fixture
    def ops(self):
        return ForgetsTheMean()

class TestOrder(Faulty):
    @pytest.fixture
    def ops(self):
        return ForgetsTheOrder()
"""


def test_a_faulty_op_fails_where_it_is_faulty_and_nowhere_else(pytester: pytest.Pytester):
    pytester.makeini("[pytest]\ntfdist_virtual_devices = 2\n")
    pytester.makepyfile(FAULTY_OP)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-q", "-rf", "--tb=no")
    failed = sorted(
        line.split("::")[1] + "::" + line.split("::")[2].split("[")[0]
        for line in result.outlines
        if line.startswith("FAILED")
    )
    assert set(failed) == {
        "TestMean::test_indexed_slices",
        "TestMean::test_many_values_at_once",
        "TestMean::test_reduce_in_a_graph_function",
        "TestMean::test_reduce_to_all_devices",
        "TestMean::test_reduce_to_one_device",
        "TestOrder::test_another_dimension",
        "TestOrder::test_uneven_shares_along_the_first_dimension",
    }
