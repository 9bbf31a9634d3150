"""Finding what a name stands for, and saying what to do when it stands for nothing."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from tfdist.errors import PluginError, UnknownNameError
from tfdist.plugins import Offer, PluginInfo, PluginState, Registry
from tfdist.plugins.settings import normalize
from tfdist.specs import (
    CommandSpec,
    CrossDeviceOpsSpec,
    FailureHandlerSpec,
    InputSpec,
    Spec,
    StrategySpec,
)

SpecT = TypeVar("SpecT", bound=Spec)

WORDS: Mapping[type[Spec], str] = {
    StrategySpec: "strategy",
    CrossDeviceOpsSpec: "cross-device op",
    InputSpec: "input",
    FailureHandlerSpec: "failure handler",
    CommandSpec: "command",
}

# Names that the project's own plugins bring, for people who have not installed them.
KNOWN: Mapping[type[Spec], Mapping[str, str]] = {
    StrategySpec: {
        "mirrored": "tfdist-plugin-mirrored",
        "central_storage": "tfdist-plugin-mirrored",
        "multi_worker_mirrored": "tfdist-plugin-multiworker",
        "multiworker": "tfdist-plugin-multiworker",
        "parameter_server": "tfdist-plugin-ps",
        "ps": "tfdist-plugin-ps",
        "tpu": "tfdist-plugin-tpu",
        "dtensor": "tfdist-plugin-dtensor",
    },
    CrossDeviceOpsSpec: {
        "hierarchical_copy": "tfdist-plugin-mirrored",
        "nccl": "tfdist-plugin-mirrored",
        "tf_runtime": "tfdist-plugin-multiworker",
        "mpi": "tfdist-plugin-multiworker",
        "rpc": "tfdist-plugin-multiworker",
    },
}


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
    raise _unknown(registry, kind, name)


def clash(kind: type[SpecT], name: str, offers: Sequence[Offer[SpecT]]) -> PluginError:
    """Build the error for a name that several distributions claim."""
    word = WORDS[kind]
    claimants = " and ".join(str(offer.plugin) for offer in offers)
    qualified = quoted(offer.qualified_name for offer in offers)
    return PluginError(
        f"The {word} {name!r} cannot be chosen by that name. It is claimed by {claimants}; one "
        f"distribution was expected. Ask for {qualified}, or uninstall one of them."
    )


def near(name: str, names: Iterable[str]) -> list[str]:
    """Return the names that someone who typed `name` may have meant, the nearest first."""
    spellings = {candidate.lower(): candidate for candidate in sorted(names)}
    close = difflib.get_close_matches(name.lower(), spellings, n=3, cutoff=0.6)
    return [spellings[spelling] for spelling in close]


def quoted(names: Iterable[str], last: str = "or") -> str:
    """Write names as `'a', 'b' or 'c'`."""
    *first, end = (repr(name) for name in names)
    return f"{', '.join(first)} {last} {end}" if first else end


def _unknown(registry: Registry, kind: type[SpecT], name: str) -> UnknownNameError | PluginError:
    """Build the error for a name nobody offers: a plugin that was kept out, a typo, or a gap."""
    distribution, slash, plain = name.rpartition("/")
    brings = distribution or KNOWN.get(kind, {}).get(plain, "")
    kept_out = [plugin for plugin in registry.plugins if plugin.state is not PluginState.LOADED]
    to_blame = [
        plugin
        for plugin in kept_out
        if normalize(plugin.distribution) == normalize(brings)
        or (not slash and normalize(plugin.name) == normalize(plain))
    ]
    if to_blame:
        return _kept_out(kind, name, to_blame)
    names = {each for offer in registry.offers(kind) for each in offer.spec.names}
    if slash:
        names = {offer.qualified_name for offer in registry.offers(kind)}
    elif brings:
        return _not_installed(kind, name, brings)
    suspects = [plugin for plugin in kept_out if plugin.state is PluginState.BROKEN]
    close = near(name, names | (set() if slash else set(KNOWN.get(kind, {}))))
    if suspects and not close:
        return _kept_out(kind, name, suspects, certain=False)
    return _mistyped(kind, name, close, names, suspects)


def _kept_out(
    kind: type[Spec], name: str, plugins: list[PluginInfo], certain: bool = True
) -> PluginError:
    relation = "It is brought by" if certain else "It may be brought by"
    seen = " ".join(f"{relation} {plugin}, which is {_state(plugin)}" for plugin in plugins)
    error = PluginError(f"The {WORDS[kind]} {name!r} cannot be used. {seen} {_remedy(plugins)}")
    error.__cause__ = plugins[0].cause
    return error


def _state(plugin: PluginInfo) -> str:
    return f"{plugin.state.value}: {(plugin.error or '').rstrip('.')}."


def _remedy(plugins: list[PluginInfo]) -> str:
    states = {plugin.state for plugin in plugins}
    if states == {PluginState.DISABLED}:
        return "Change that variable to use it."
    if PluginState.BROKEN in states:
        return "Repair or uninstall it; `tfdist plugins` shows how every plugin stands."
    return "`tfdist plugins` shows how every plugin stands."


def _not_installed(kind: type[Spec], name: str, distribution: str) -> UnknownNameError:
    return UnknownNameError(
        f"The {WORDS[kind]} {name!r} is not installed. It is brought by {distribution}, which is "
        f"not among the installed plugins. Run `pip install {distribution}`."
    )


def _mistyped(
    kind: type[Spec],
    name: str,
    close: list[str],
    names: set[str],
    suspects: list[PluginInfo],
) -> UnknownNameError:
    word = WORDS[kind]
    expected = quoted(sorted(names)) if names else "none, as no plugin offers any"
    advice = (
        f"Did you mean {quoted(close)}?" if close else "Choose one of these, or install its plugin."
    )
    also = "".join(f" {plugin} is {_state(plugin)}" for plugin in suspects)
    error = UnknownNameError(
        f"There is no {word} {name!r}. The installed plugins offer {expected}.{also} {advice}"
    )
    error.__cause__ = suspects[0].cause if suspects else None
    return error
