from tfdist.testing.conformance import CrossDeviceOpsConformance


class TestReductionToOneDevice(CrossDeviceOpsConformance):
    name = "reduction_to_one_device"


class TestHierarchicalCopy(CrossDeviceOpsConformance):
    name = "hierarchical_copy"
