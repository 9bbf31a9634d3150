from tfdist.testing.conformance import CrossDeviceOpsConformance


class TestRing(CrossDeviceOpsConformance):
    name = "ring"
    device_counts = (2, 3)
