"""`tfdist plugins`: which plugins are installed and how each stands."""

import click

from tfdist import plugins
from tfdist.cli.output import show_json, show_table
from tfdist.plugins import PluginInfo


@click.command("plugins")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_plugins(as_json: bool) -> None:
    """List the installed plugins, loaded or not. Imports no TensorFlow."""
    found = plugins.current().plugins
    if as_json:
        show_json([_record(plugin) for plugin in found])
        return
    headings = ("plugin", "distribution", "version", "API", "state", "hooks")
    show_table(headings, [_row(plugin) for plugin in found])
    for plugin in found:
        if plugin.error:
            click.echo(f"\n{plugin.name} ({plugin}) is {plugin.state.value}: {plugin.error}")


def _record(plugin: PluginInfo) -> dict[str, object]:
    return {
        "name": plugin.name,
        "distribution": plugin.distribution,
        "version": plugin.version,
        "api_range": plugin.api_range,
        "hooks": list(plugin.hooks),
        "state": plugin.state.value,
        "error": plugin.error,
        "editable": plugin.editable,
    }


def _row(plugin: PluginInfo) -> tuple[str, ...]:
    hooks = ", ".join(hook.removeprefix("tfdist_") for hook in plugin.hooks)
    version = f"{plugin.version} (editable)" if plugin.editable else plugin.version
    api_range = plugin.api_range or "-"
    return (plugin.name, plugin.distribution, version, api_range, plugin.state.value, hooks)
