"""The environment variables that say which plugins to load."""

import os
from collections.abc import Mapping

from attrs import frozen

from tfdist.errors import OptionError

AUTOLOAD = "TFDIST_PLUGIN_AUTOLOAD"
DISABLE = "TFDIST_DISABLE_PLUGINS"


@frozen
class Settings:
    """Which installed plugins may be loaded.

    Attributes:
        autoload: Whether any is.
        disabled: Distributions or entry points to leave out, normalized.
    """

    autoload: bool = True
    disabled: frozenset[str] = frozenset()

    def why_disabled(self, distribution: str, name: str) -> str | None:
        """Say which setting keeps a plugin out, or None if none does."""
        if not self.autoload:
            return f"loading of plugins is switched off by {AUTOLOAD}=0"
        if self.disabled & {normalize(distribution), normalize(name)}:
            return f"switched off by {DISABLE}"
        return None


def normalize(name: str) -> str:
    """Spell a name of a distribution or plugin in the one way that names are compared in."""
    return name.strip().lower().replace("_", "-").replace(".", "-")


def from_environment(environment: Mapping[str, str] = os.environ) -> Settings:
    """Read the settings.

    Raises:
        OptionError: If `TFDIST_PLUGIN_AUTOLOAD` is neither 0 nor 1.
    """
    autoload = environment.get(AUTOLOAD, "").strip() or "1"
    if autoload not in ("0", "1"):
        raise OptionError(
            f"{AUTOLOAD} cannot be read. It is {autoload!r}; expected 0 or 1. Set it to 0 to load "
            "no plugins, or unset it."
        )
    names = environment.get(DISABLE, "").split(",")
    return Settings(autoload == "1", frozenset(normalize(name) for name in names if name.strip()))
