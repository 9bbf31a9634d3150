"""Libraries that tfdist gets along with, each adapted in one place."""

from tfdist.integrations.activation import activate

__all__ = ["activate"]
