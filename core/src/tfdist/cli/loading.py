"""Importing the subcommands that are run."""

from collections.abc import Sequence
from typing import NoReturn

import click

from tfdist.errors import PluginError
from tfdist.plugins import Offer
from tfdist.selection import names, targets
from tfdist.specs import CommandSpec


def load_command(offer: Offer[CommandSpec]) -> click.Command:
    """Import a subcommand.

    Raises:
        PluginError: If it cannot be imported or is not a `click.Command`.
    """
    command: object = targets.load(offer)
    if not isinstance(command, click.Command):
        raise PluginError(
            f"The command {offer.spec.name!r} of {offer.plugin} cannot be run. Its target is "
            f"{command!r}; expected a click.Command. Repair or upgrade {offer.plugin.distribution}."
        )
    return command


def clashing(name: str, claims: Sequence[Offer[CommandSpec]]) -> click.Command:
    """Return a subcommand that refuses to run, as several plugins claim its name."""

    def refuse() -> NoReturn:
        raise names.clash(CommandSpec, name, claims)

    claimants = ", ".join(offer.plugin.distribution for offer in claims)
    return click.Command(
        name,
        callback=refuse,
        short_help=f"claimed by {claimants}: cannot be run",
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )
