"""Plugins: which are installed, how each stands, and what they offer."""

from tfdist.plugins.api import PLUGIN_API, ApiRange, ApiVersion
from tfdist.plugins.records import Offer, PluginInfo, PluginState
from tfdist.plugins.registry import Registry, current, refresh

__all__ = [
    "PLUGIN_API",
    "ApiRange",
    "ApiVersion",
    "Offer",
    "PluginInfo",
    "PluginState",
    "Registry",
    "current",
    "refresh",
]
