"""Importing plugins and asking them what they offer; one that fails harms no other."""

import logging
from collections.abc import Iterable
from typing import cast

import pluggy
from attrs import evolve, frozen

from tfdist import hookspecs, specs
from tfdist.plugins import api
from tfdist.plugins.discovery import Found
from tfdist.plugins.records import Offer, PluginInfo, PluginState
from tfdist.plugins.settings import Settings

HOOKS: dict[str, type[specs.Spec]] = {
    "tfdist_strategies": specs.StrategySpec,
    "tfdist_cross_device_ops": specs.CrossDeviceOpsSpec,
    "tfdist_inputs": specs.InputSpec,
    "tfdist_failure_handlers": specs.FailureHandlerSpec,
    "tfdist_commands": specs.CommandSpec,
}

_logger = logging.getLogger(__name__)


@frozen
class Loaded:
    """A plugin after the attempt to load it, and what it offers."""

    info: PluginInfo
    offers: tuple[Offer[specs.Spec], ...] = ()


class Loader:
    """Loads plugins, each into the same pluggy manager."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._manager = pluggy.PluginManager(hookspecs.PROJECT)
        self._manager.add_hookspecs(hookspecs)

    def load(self, found: Found) -> Loaded:
        """Import a plugin if it may be loaded, and ask it what it offers."""
        info = PluginInfo(
            name=found.entry_point.name,
            distribution=found.distribution,
            version=found.version,
            api_range=found.declared_api,
            state=PluginState.LOADED,
            editable=found.editable,
        )
        if reason := self._settings.why_disabled(info.distribution, info.name):
            return Loaded(evolve(info, state=PluginState.DISABLED, error=reason))
        if reason := api.refusal(info.distribution, info.version, info.api_range):
            return Loaded(evolve(info, state=PluginState.INCOMPATIBLE, error=reason))
        try:
            return self.register(found.entry_point.load(), info)
        # Anything may come out of a stranger's module, sys.exit() included; it is kept and shown.
        except (Exception, SystemExit) as error:  # noqa: BLE001
            _logger.warning("plugin %s of %s was not loaded: %r", info.name, info, error)
            return Loaded(
                evolve(info, state=PluginState.BROKEN, error=_describe(error), cause=error)
            )

    def register(self, plugin: object, info: PluginInfo) -> Loaded:
        """Check a plugin's hooks, call them, and check what they return.

        Raises:
            Exception: What the plugin's hooks raise, or the reason why they are not fit.
        """
        key = f"{info.distribution}:{info.name}"
        try:
            self._manager.register(plugin, name=key)
            # Hooks that nobody declares are mistakes, most often in spelling.
            self._manager.check_pending()
            callers = self._manager.get_hookcallers(plugin) or []
            hooks = tuple(hook for hook in HOOKS if hook in {caller.name for caller in callers})
            info = evolve(info, hooks=hooks)
            return Loaded(
                info,
                tuple(Offer(spec, info) for hook in hooks for spec in self._ask(key, hook)),
            )
        except BaseException:
            if self._manager.has_plugin(key):
                self._manager.unregister(name=key)
            raise

    def _ask(self, key: str, hook: str) -> tuple[specs.Spec, ...]:
        """Call one hook of one plugin."""
        others = [plugin for name, plugin in self._manager.list_name_plugin() if name != key]
        caller = self._manager.subset_hook_caller(hook, others)
        return tuple(spec for answer in caller() for spec in _checked(hook, answer))


def _checked(hook: str, answer: object) -> tuple[specs.Spec, ...]:
    """Check that a hook returned specs of its kind, each with names of its own."""
    kind = HOOKS[hook]
    if not isinstance(answer, Iterable):
        raise TypeError(f"{hook} returned {answer!r}; expected a list of {kind.__name__}")
    offered = tuple(cast("Iterable[object]", answer))
    taken: set[str] = set()
    for spec in offered:
        if not isinstance(spec, kind):
            raise TypeError(f"{hook} returned {spec!r} in its list; expected {kind.__name__}")
        for name in spec.names:
            if name in taken:
                raise ValueError(f"{hook} returned two offers named {name!r}")
            taken.add(name)
    return cast("tuple[specs.Spec, ...]", offered)


def _describe(error: BaseException) -> str:
    """Put an exception on one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
