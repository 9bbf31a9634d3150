from tfdist.testing.conformance import CrossDeviceOpsConformance, StrategyConformance


class TestRing(CrossDeviceOpsConformance):
    name = "ring"
    device_counts = (2, 3)


class TestRingStrategy(StrategyConformance):
    name = "ring_mirrored"
    replica_counts = (2,)
