"""`tfdist devices`: the devices that TensorFlow sees."""

import click

from tfdist.cli.output import show_json, show_table
from tfdist.selection import tensorflow


@click.command("devices")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def devices(as_json: bool) -> None:
    """List physical and logical devices. Imports TensorFlow, and starts its runtime."""
    found = find_devices()
    if as_json:
        show_json(found)
        return
    rows = [(kind, each["name"], each["type"]) for kind in found for each in found[kind]]
    show_table(("kind", "name", "type"), rows)


def find_devices() -> dict[str, list[dict[str, str]]]:
    """Ask TensorFlow for its devices.

    Raises:
        TensorFlowMissingError: If TensorFlow is not installed.
    """
    config = tensorflow("Listing devices").config
    found = {"physical": config.list_physical_devices(), "logical": config.list_logical_devices()}
    return {
        kind: [{"name": each.name, "type": each.device_type} for each in devices]
        for kind, devices in found.items()
    }
