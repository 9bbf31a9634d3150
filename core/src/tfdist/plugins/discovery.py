"""Finding the plugins that are installed, from metadata alone: nothing of theirs is imported."""

import json
from collections.abc import Iterator
from email.message import Message
from email.parser import HeaderParser
from importlib.metadata import Distribution, EntryPoint, PackageNotFoundError, distributions

from attrs import frozen

from tfdist.plugins import api
from tfdist.plugins.settings import normalize

GROUP = "tfdist.plugins"


@frozen
class Found:
    """An entry point of the group `tfdist.plugins`, and what its distribution's metadata says."""

    entry_point: EntryPoint
    distribution: str
    version: str
    declared_api: str | None
    editable: bool


def installed() -> list[Found]:
    """Find the plugins on `sys.path`, by distribution and name; each distribution counts once."""
    found = [plugin for distribution in _candidates() for plugin in _plugins_of(distribution)]
    return sorted(found, key=lambda plugin: (plugin.distribution, plugin.entry_point.name))


def _candidates() -> Iterator[Distribution]:
    """Yield the distributions with plugins, the first on the path when one is there twice."""
    seen: set[str] = set()
    for candidate in distributions():
        if GROUP not in (candidate.read_text("entry_points.txt") or ""):
            continue
        name = _headers(candidate).get("Name")
        if name is None or normalize(name) in seen:
            continue
        seen.add(normalize(name))
        # A copy earlier on the path may be another version, without plugins: that one counts.
        try:
            yield Distribution.from_name(name)
        except PackageNotFoundError:
            yield candidate


def _plugins_of(distribution: Distribution) -> Iterator[Found]:
    headers = _headers(distribution)
    keywords = ",".join(headers.get_all("Keywords", []))
    for entry_point in distribution.entry_points:
        if entry_point.group == GROUP:
            yield Found(
                entry_point,
                headers["Name"],
                headers.get("Version", "unknown"),
                api.declared(keywords),
                _is_editable(distribution),
            )


def _headers(distribution: Distribution) -> Message:
    """Read the fields of the metadata; the long description below them is not parsed."""
    text = distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or ""
    return HeaderParser().parsestr(text.partition("\n\n")[0])


def _is_editable(distribution: Distribution) -> bool:
    """Whether the distribution was installed with `pip install -e` (PEP 610)."""
    try:
        origin = json.loads(distribution.read_text("direct_url.json") or "{}")
    except ValueError:
        return False
    return bool(origin.get("dir_info", {}).get("editable", False))
