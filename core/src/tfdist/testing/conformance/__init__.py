"""What every strategy and every cross-device op must do, as test classes that a plugin inherits.

    from tfdist.testing.conformance import StrategyConformance

    class TestMine(StrategyConformance):
        name = "mine"

The expected values come from NumPy or from arithmetic done by hand.
"""

from tfdist.testing.conformance.cross_device_ops import CrossDeviceOpsConformance
from tfdist.testing.conformance.strategy import StrategyConformance

__all__ = ["CrossDeviceOpsConformance", "StrategyConformance"]
