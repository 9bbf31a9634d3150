"""Plugins in the wire format."""

from tfdist.plugins import PluginInfo, PluginState
from tfdist.plugins.messages import from_message, to_message
from tfdist.wire import plugin_pb2

PLUGINS = (
    PluginInfo(
        name="mirrored",
        distribution="tfdist-plugin-mirrored",
        version="0.1.0",
        api_range="1.0-1.x",
        hooks=("tfdist_strategies", "tfdist_cross_device_ops"),
        state=PluginState.LOADED,
        editable=True,
    ),
    PluginInfo(
        name="odd",
        distribution="odd",
        version="2",
        api_range=None,
        state=PluginState.BROKEN,
        error="ValueError: é",
    ),
    PluginInfo(
        name="new", distribution="n", version="2", api_range="9.0", state=PluginState.INCOMPATIBLE
    ),
    PluginInfo(
        name="off", distribution="o", version="2", api_range="1.0", state=PluginState.DISABLED
    ),
)

# What version 0.1.0 of the format wrote for the second of them; it must parse for ever.
STORED = bytes.fromhex("0a020801121f0a036f646412036f64641a013230023a0e56616c75654572726f723a20c3a9")


def test_round_trip() -> None:
    message = to_message(PLUGINS)
    assert (message.api.major, message.api.minor) == (1, 0)
    read = plugin_pb2.PluginList.FromString(message.SerializeToString())
    assert from_message(read) == PLUGINS


def test_what_is_absent_stays_absent() -> None:
    odd = to_message(PLUGINS).plugins[1]
    assert not odd.HasField("api_range")
    assert odd.HasField("error")


def test_bytes_of_earlier_versions_still_parse() -> None:
    assert from_message(plugin_pb2.PluginList.FromString(STORED)) == PLUGINS[1:2]
