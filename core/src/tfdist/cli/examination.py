"""What is installed on this machine, and what would not work and why."""

import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from attrs import frozen

from tfdist.errors import TensorFlowMissingError, TfdistError
from tfdist.plugins import Offer, PluginState, Registry
from tfdist.plugins.settings import DISABLE, from_environment, normalize
from tfdist.selection import targets
from tfdist.selection.availability import device_types, obstacles
from tfdist.specs import CrossDeviceOpsSpec, FailureHandlerSpec, InputSpec, Spec, StrategySpec

_TENSORFLOWS = ("tensorflow", "tensorflow-cpu", "tf-nightly", "tf-nightly-cpu", "tensorflow-macos")
_LIBRARIES = ("keras", "protobuf", "numpy", "grpcio", "tfdist")
_KINDS = (StrategySpec, CrossDeviceOpsSpec, InputSpec, FailureHandlerSpec)
_FIRST, _BEFORE = (2, 19), (2, 22)


@frozen
class Verdict:
    """Whether something that a plugin offers can be used here."""

    kind: str
    name: str
    distribution: str
    obstacles: tuple[str, ...]
    import_error: str | None = None

    @property
    def text(self) -> str:
        """The verdict in a few words."""
        if self.import_error:
            return "cannot be imported, see below"
        return "; ".join(self.obstacles) or "works"


@frozen
class Report:
    """What was found; any problem makes `tfdist doctor` fail.

    Attributes:
        versions: Versions by name of what they are versions of.
        devices: Types of the devices that TensorFlow sees; empty without TensorFlow.
        verdicts: One for each offer of a plugin; empty without TensorFlow.
        problems: What is wrong, a sentence or more each.
    """

    versions: dict[str, str]
    devices: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
    problems: tuple[str, ...]


def examine(registry: Registry) -> Report:
    """Look at everything."""
    problems = [*tensorflow_problems(), *_plugin_problems(registry), *_clashes(registry)]
    try:
        types = device_types()
    except TensorFlowMissingError:
        types = set()
    verdicts = tuple(_verdicts(registry, types)) if types else ()
    problems.extend(each.import_error for each in verdicts if each.import_error)
    return Report(
        versions=_versions(registry),
        devices=tuple(sorted(types)),
        verdicts=verdicts,
        problems=tuple(problems),
    )


def _versions(registry: Registry) -> dict[str, str]:
    found = {"python": platform.python_version(), "platform": platform.platform()}
    tensorflow = [(name, installed(name)) for name in _TENSORFLOWS]
    shown = [f"{number} ({name})" for name, number in tensorflow if number]
    found["tensorflow"] = ", ".join(shown) or "not installed"
    found |= {name: installed(name) or "not installed" for name in _LIBRARIES}
    own = {plugin.distribution: plugin.version for plugin in registry.plugins}
    return found | own


def installed(distribution: str) -> str | None:
    """Return the version of a distribution, or None."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def tensorflow_problems() -> Iterator[str]:
    """Say what is wrong with TensorFlow's version."""
    found = next((number for name in _TENSORFLOWS if (number := installed(name))), None)
    if found is None:
        yield (
            "TensorFlow is not installed. Run `pip install 'tfdist[tf-cpu]'`, `'tfdist[tf-cuda]'` "
            "for NVIDIA GPUs, or `'tfdist[tf]'`."
        )
        return
    major, minor = (int(part) for part in found.split(".")[:2])
    if not _FIRST <= (major, minor) < _BEFORE:
        yield (
            f"TensorFlow {found} is not supported; tfdist was tried with 2.19, 2.20 and 2.21. "
            "Run `pip install 'tensorflow>=2.19,<2.22'`."
        )


def _plugin_problems(registry: Registry) -> Iterator[str]:
    for plugin in registry.plugins:
        if plugin.state in (PluginState.BROKEN, PluginState.INCOMPATIBLE):
            yield f"The plugin {plugin.name} of {plugin} is {plugin.state.value}: {plugin.error}"
    known = {
        normalize(name) for each in registry.plugins for name in (each.distribution, each.name)
    }
    for name in sorted(from_environment().disabled - known):
        yield f"{DISABLE} names {name!r}, and no plugin of that name is installed."


def _clashes(registry: Registry) -> Iterator[str]:
    for kind in _KINDS:
        claims: dict[str, list[str]] = {}
        for offer in registry.offers(kind):
            for name in offer.spec.names:
                claims.setdefault(name, []).append(str(offer.plugin))
        for name, claimants in claims.items():
            if len(claimants) > 1:
                yield f"The name {name!r} is claimed by {' and '.join(claimants)}."


def _verdicts(registry: Registry, types: set[str]) -> Iterator[Verdict]:
    for kind in _KINDS:
        for offer in registry.offers(kind):
            lacking = tuple(obstacles(offer.spec, types))
            error = None if lacking else _import_error(offer)
            shown = kind.__name__.removesuffix("Spec")
            yield Verdict(shown, offer.spec.name, offer.plugin.distribution, lacking, error)


def _import_error(offer: Offer[Spec]) -> str | None:
    """Import what an offer points at, now that TensorFlow is there anyway."""
    try:
        targets.load(offer)
    except TfdistError as error:
        return str(error)
    return None
