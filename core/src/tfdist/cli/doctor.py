"""`tfdist doctor`: what is installed, and what would not work on this machine and why."""

import os
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

import click
from attrs import frozen

from tfdist import plugins
from tfdist.cli.output import show_fields, show_json, show_table
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
class _Verdict:
    """Whether something that a plugin offers can be used here."""

    kind: str
    name: str
    distribution: str
    obstacles: tuple[str, ...]
    import_error: str | None = None

    @property
    def text(self) -> str:
        if self.import_error:
            return "cannot be imported, see below"
        return "; ".join(self.obstacles) or "works"


@frozen
class _Report:
    versions: dict[str, str]
    devices: tuple[str, ...]
    verdicts: tuple[_Verdict, ...]
    problems: tuple[str, ...]


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def doctor(context: click.Context, as_json: bool) -> None:
    """Check this machine: versions, devices, plugins, and what would not work here and why.

    Ends with code 1 if something is wrong: no TensorFlow, an unsupported one, a plugin that could
    not be loaded, a name that two distributions claim. What merely needs other hardware is listed
    and is no failure.
    """
    report = _examine(plugins.current())
    if as_json:
        _show_as_json(report)
    else:
        _show(report)
    context.exit(1 if report.problems else 0)


def _examine(registry: Registry) -> _Report:
    problems = [*_tensorflow_problems(), *_plugin_problems(registry), *_clashes(registry)]
    try:
        types = device_types()
    except TensorFlowMissingError:
        types = set()
    verdicts = tuple(_verdicts(registry, types)) if types else ()
    problems.extend(each.import_error for each in verdicts if each.import_error)
    return _Report(
        versions=_versions(registry),
        devices=tuple(sorted(types)),
        verdicts=verdicts,
        problems=tuple(problems),
    )


def _versions(registry: Registry) -> dict[str, str]:
    found = {"python": platform.python_version(), "platform": platform.platform()}
    tensorflow = [(name, _installed(name)) for name in _TENSORFLOWS]
    shown = [f"{number} ({name})" for name, number in tensorflow if number]
    found["tensorflow"] = ", ".join(shown) or "not installed"
    found |= {name: _installed(name) or "not installed" for name in _LIBRARIES}
    own = {plugin.distribution: plugin.version for plugin in registry.plugins}
    return found | own


def _installed(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def _tensorflow_problems() -> Iterator[str]:
    found = next((number for name in _TENSORFLOWS if (number := _installed(name))), None)
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


def _verdicts(registry: Registry, types: set[str]) -> Iterator[_Verdict]:
    for kind in _KINDS:
        for offer in registry.offers(kind):
            lacking = tuple(obstacles(offer.spec, types))
            error = None if lacking else _import_error(offer)
            shown = kind.__name__.removesuffix("Spec")
            yield _Verdict(shown, offer.spec.name, offer.plugin.distribution, lacking, error)


def _import_error(offer: Offer[Spec]) -> str | None:
    """Import what an offer points at, now that TensorFlow is there anyway."""
    try:
        targets.load(offer)
    except TfdistError as error:
        return str(error)
    return None


def _show(report: _Report) -> None:
    show_fields(report.versions.items())
    click.echo()
    show_fields([("devices", ", ".join(report.devices) or "unknown, as TensorFlow is missing")])
    if strategy := os.environ.get("TFDIST_STRATEGY"):
        show_fields([("TFDIST_STRATEGY", strategy)])
    click.echo()
    show_table(
        ("offer", "name", "distribution", "here"),
        [(each.kind, each.name, each.distribution, each.text) for each in report.verdicts],
    )
    click.echo()
    for problem in report.problems:
        click.echo(f"Problem: {problem}")
    if not report.problems:
        click.echo("No problems found.")


def _show_as_json(report: _Report) -> None:
    show_json(
        {
            "versions": report.versions,
            "devices": list(report.devices),
            "offers": [
                {
                    "kind": each.kind,
                    "name": each.name,
                    "distribution": each.distribution,
                    "works": not each.obstacles and not each.import_error,
                    "obstacles": list(each.obstacles),
                    "import_error": each.import_error,
                }
                for each in report.verdicts
            ],
            "problems": list(report.problems),
            "executable": sys.executable,
        }
    )
