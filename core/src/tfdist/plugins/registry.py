"""The registry: every plugin that is installed, and every offer of those that were loaded."""

import functools
import importlib
from collections.abc import Iterable
from typing import TypeVar

from attrs import frozen

from tfdist import builtin, version
from tfdist.plugins import api, discovery
from tfdist.plugins.loading import Loaded, Loader
from tfdist.plugins.records import Offer, PluginInfo, PluginState
from tfdist.plugins.settings import Settings, from_environment
from tfdist.specs import Spec

SpecT = TypeVar("SpecT", bound=Spec)


@frozen
class Registry:
    """What was found when it was built; it never changes."""

    _loaded: tuple[Loaded, ...]

    @property
    def plugins(self) -> tuple[PluginInfo, ...]:
        """All installed plugins, loaded or not, the core's own first."""
        return tuple(loaded.info for loaded in self._loaded)

    def offers(self, kind: type[SpecT]) -> tuple[Offer[SpecT], ...]:
        """List the offers of one kind, by name."""
        found = [
            Offer(offer.spec, offer.plugin)
            for loaded in self._loaded
            for offer in loaded.offers
            if isinstance(offer.spec, kind)
        ]
        return tuple(sorted(found, key=lambda offer: (offer.spec.name, offer.plugin.distribution)))


def build(settings: Settings, found: Iterable[discovery.Found]) -> Registry:
    """Load the core's own plugin, then those that were found."""
    loader = Loader(settings)
    own = PluginInfo(
        name="builtin",
        distribution="tfdist",
        version=version.VERSION,
        api_range=str(api.PLUGIN_API),
        state=PluginState.LOADED,
    )
    return Registry((loader.register(builtin, own), *(loader.load(plugin) for plugin in found)))


def current() -> Registry:
    """Return the registry of the installed plugins, built at the first call.

    It is built anew when the environment variables that choose plugins have changed, and after
    `refresh()`.
    """
    return _installed(from_environment())


def refresh() -> None:
    """Forget what was found, so that plugins installed meanwhile are seen."""
    importlib.invalidate_caches()
    _installed.cache_clear()


@functools.lru_cache(maxsize=1)
def _installed(settings: Settings) -> Registry:
    return build(settings, discovery.installed())
