"""Finding what a name stands for."""

from collections.abc import Sequence
from typing import TypeVar

from tfdist.errors import PluginError
from tfdist.plugins import Offer, Registry
from tfdist.plugins.settings import normalize
from tfdist.selection.absent import absent
from tfdist.selection.wording import WORDS, quoted
from tfdist.specs import Spec

SpecT = TypeVar("SpecT", bound=Spec)


def find(registry: Registry, kind: type[SpecT], name: str) -> Offer[SpecT]:
    """Find the one offer with a name or alias, plain or as `distribution/name`.

    Raises:
        UnknownNameError: If nobody offers the name; near names and what to install are named.
        PluginError: If two distributions claim it, or the plugin that brings it was not loaded; the
            error that kept it out is chained.
    """
    distribution, slash, plain = name.rpartition("/")
    offers = [
        offer
        for offer in registry.offers(kind)
        if plain in offer.spec.names
        and (not slash or normalize(offer.plugin.distribution) == normalize(distribution))
    ]
    if len(offers) == 1:
        return offers[0]
    if offers:
        raise clash(kind, plain, offers)
    raise absent(registry, kind, name)


def clash(kind: type[SpecT], name: str, offers: Sequence[Offer[SpecT]]) -> PluginError:
    """Build the error for a name that is claimed more than once."""
    word = WORDS[kind]
    first = offers[0].plugin
    if all(offer.plugin.distribution == first.distribution for offer in offers):
        return PluginError(
            f"The {word} {name!r} cannot be chosen. {first} offers it {len(offers)} times; once "
            f"was expected. Repair or upgrade {first.distribution}."
        )
    claimants = " and ".join(str(offer.plugin) for offer in offers)
    qualified = quoted(offer.qualified_name for offer in offers)
    return PluginError(
        f"The {word} {name!r} cannot be chosen by that name. It is claimed by {claimants}; one "
        f"distribution was expected. Ask for {qualified}, or uninstall one of them."
    )
