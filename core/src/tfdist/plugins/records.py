"""What is known of each plugin, and of each thing that a plugin offers."""

from enum import Enum
from typing import Generic, TypeVar

from attrs import field, frozen

from tfdist.specs import Spec

SpecT = TypeVar("SpecT", bound=Spec, covariant=True)


class PluginState(str, Enum):
    """How a plugin stands with this process."""

    LOADED = "loaded"
    BROKEN = "broken"
    INCOMPATIBLE = "incompatible"
    DISABLED = "disabled"


@frozen(kw_only=True)
class PluginInfo:
    """One plugin: an entry point of an installed distribution, or the core's own.

    Attributes:
        name: Name of its entry point.
        distribution: Name of the distribution that brings it.
        version: Version of that distribution.
        api_range: The versions of the plugin API it was built for, as declared; None if it does not
            say.
        state: Whether it was loaded, and if not, what kept it out.
        hooks: The hooks it implements.
        error: Why it was not loaded, for people.
        editable: Whether the distribution is installed in editable mode.
        cause: What was raised while it was loaded.
    """

    name: str
    distribution: str
    version: str
    api_range: str | None
    state: PluginState
    hooks: tuple[str, ...] = ()
    error: str | None = None
    editable: bool = False
    cause: BaseException | None = field(default=None, eq=False, repr=False)

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}"


@frozen
class Offer(Generic[SpecT]):
    """A spec, and the plugin it came from."""

    spec: SpecT
    plugin: PluginInfo

    @property
    def qualified_name(self) -> str:
        """The name that is clear even when several distributions claim the plain one."""
        return f"{self.plugin.distribution}/{self.spec.name}"
