"""Plugins in the wire format, for members of a job that tell each other what they run."""

from collections.abc import Iterable

from tfdist.plugins.api import PLUGIN_API
from tfdist.plugins.records import PluginInfo, PluginState
from tfdist.wire import plugin_pb2 as pb

_STATES = {
    PluginState.LOADED: pb.PLUGIN_STATE_LOADED,
    PluginState.BROKEN: pb.PLUGIN_STATE_BROKEN,
    PluginState.INCOMPATIBLE: pb.PLUGIN_STATE_INCOMPATIBLE,
    PluginState.DISABLED: pb.PLUGIN_STATE_DISABLED,
}


def to_message(plugins: Iterable[PluginInfo]) -> pb.PluginList:
    """Put plugins into a message; exceptions do not travel, their text does."""
    return pb.PluginList(
        api=pb.ApiVersion(major=PLUGIN_API.major, minor=PLUGIN_API.minor),
        plugins=[
            pb.PluginInfo(
                name=plugin.name,
                distribution=plugin.distribution,
                version=plugin.version,
                api_range=plugin.api_range,
                hooks=plugin.hooks,
                state=_STATES[plugin.state],
                error=plugin.error,
                editable=plugin.editable,
            )
            for plugin in plugins
        ],
    )


def from_message(message: pb.PluginList) -> tuple[PluginInfo, ...]:
    """Read plugins from a message.

    Raises:
        KeyError: If a plugin has a state that this version does not know.
    """
    states = {number: state for state, number in _STATES.items()}
    return tuple(
        PluginInfo(
            name=plugin.name,
            distribution=plugin.distribution,
            version=plugin.version,
            api_range=plugin.api_range if plugin.HasField("api_range") else None,
            state=states[plugin.state],
            hooks=tuple(plugin.hooks),
            error=plugin.error if plugin.HasField("error") else None,
            editable=plugin.editable,
        )
        for plugin in message.plugins
    )
