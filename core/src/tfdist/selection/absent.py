"""What people are told of a name that nobody offers: a plugin kept out, a gap, or a typo."""

from collections.abc import Mapping

from tfdist.errors import PluginError, UnknownNameError
from tfdist.plugins import PluginInfo, PluginState, Registry
from tfdist.plugins.settings import normalize
from tfdist.selection.wording import WORDS, near, quoted
from tfdist.specs import CrossDeviceOpsSpec, Spec, StrategySpec

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


def absent(registry: Registry, kind: type[Spec], name: str) -> UnknownNameError | PluginError:
    """Build the error for a name nobody offers."""
    distribution, slash, plain = name.rpartition("/")
    known = KNOWN.get(kind, {})
    brings = normalize(distribution or known.get(plain, ""))
    kept_out = [plugin for plugin in registry.plugins if plugin.state is not PluginState.LOADED]
    to_blame = [
        plugin
        for plugin in kept_out
        if normalize(plugin.distribution) == brings
        or (not slash and normalize(plugin.name) == normalize(plain))
    ]
    if to_blame:
        return _kept_out(kind, name, to_blame)
    present = any(normalize(plugin.distribution) == brings for plugin in registry.plugins)
    if brings in known.values() and not present:
        return _not_installed(kind, name, brings)
    offers = registry.offers(kind)
    names = {each for offer in offers for each in offer.spec.names}
    if slash:
        names = {offer.qualified_name for offer in offers}
    suspects = [plugin for plugin in kept_out if plugin.state is PluginState.BROKEN]
    close = near(name, names | (set() if slash else known.keys()))
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
