"""The `tfdist` command: every subcommand, the core's own included, comes from the hook."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from tfdist import plugins, version
from tfdist.errors import TfdistError
from tfdist.plugins import Offer
from tfdist.specs import CommandSpec


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; ends the process, with code 1 if something could not be done."""
    try:
        cli.main(args=arguments, prog_name="tfdist")
    except TfdistError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(1)


class _Command(click.Command):
    """Stands for a subcommand until it is run; only then is it imported."""

    def __init__(self, offer: Offer[CommandSpec]) -> None:
        super().__init__(offer.spec.name, short_help=offer.spec.summary)
        self._offer = offer

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        from tfdist.cli.loading import load_command

        return load_command(self._offer).make_context(info_name, args, parent=parent, **extra)


class _Commands(click.Group):
    """Finds subcommands in the registry."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return sorted(_offers())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        claims = _offers().get(cmd_name, [])
        if len(claims) > 1:
            from tfdist.cli.loading import clashing

            return clashing(cmd_name, claims)
        return _Command(claims[0]) if claims else None


def _offers() -> Mapping[str, list[Offer[CommandSpec]]]:
    """Collect who offers each command. One of the core's own cannot be taken by a plugin."""
    offers: dict[str, list[Offer[CommandSpec]]] = {}
    for offer in plugins.current().offers(CommandSpec):
        for name in offer.spec.names:
            offers.setdefault(name, []).append(offer)
    for name, claims in offers.items():
        own = [offer for offer in claims if offer.plugin.distribution == "tfdist"]
        offers[name] = own or claims
    return offers


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version.VERSION, prog_name="tfdist", message="%(prog)s %(version)s")
def cli() -> None:
    """Distributed training for TensorFlow, built from plugins."""
