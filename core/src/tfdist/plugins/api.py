"""The version of the plugin API, and how a plugin says which versions it was built for.

A plugin's distribution declares the range in its core metadata, as a keyword, which every build
backend can write and which is readable without importing the plugin:

    keywords = ["tfdist-plugin-api:1.0"]      # 1.0 and every later minor version of 1
    keywords = ["tfdist-plugin-api:1.0-1.3"]  # 1.0 up to and including 1.3
    keywords = ["tfdist-plugin-api:1.2-2.x"]  # 1.2 up to any minor version of 2

The minor version grows when hooks, arguments or fields are added, the major one when something that
plugins rely on changes or goes.
"""

import re

from attrs import frozen

KEYWORD = "tfdist-plugin-api:"

_RANGE = re.compile(r"(\d+)\.(\d+)(?:-(\d+)\.(\d+|x))?")


@frozen(order=True)
class ApiVersion:
    """A version of the plugin API."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


PLUGIN_API = ApiVersion(1, 0)


@frozen
class ApiRange:
    """The versions that a plugin was built for; `last_minor` None means any of `last_major`."""

    first: ApiVersion
    last_major: int
    last_minor: int | None = None

    def __contains__(self, version: ApiVersion) -> bool:
        if version < self.first or version.major > self.last_major:
            return False
        within = self.last_minor is None or version.minor <= self.last_minor
        return version.major < self.last_major or within

    def __str__(self) -> str:
        last = "x" if self.last_minor is None else self.last_minor
        return f"{self.first}-{self.last_major}.{last}"


def parse_range(text: str) -> ApiRange:
    """Read `1.0`, `1.0-1.3` or `1.0-2.x`.

    Raises:
        ValueError: If the text has another form or its end lies before its start.
    """
    match = _RANGE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a range such as '1.0', '1.0-1.3' or '1.0-1.x'")
    first = ApiVersion(int(match[1]), int(match[2]))
    if match[3] is None:
        return ApiRange(first, first.major)
    last_minor = None if match[4] == "x" else int(match[4])
    found = ApiRange(first, int(match[3]), last_minor)
    if first not in found:
        raise ValueError(f"{text!r} ends before it starts")
    return found


def declared(keywords: str) -> str | None:
    """Find the declaration among the keywords of a distribution, or None.

    Build backends join keywords with commas or with spaces; both are read.
    """
    for word in re.split(r"[,\s]+", keywords):
        if word.startswith(KEYWORD):
            return word[len(KEYWORD) :]
    return None


def refusal(distribution: str, version: str, declaration: str | None) -> str | None:
    """Say why a plugin cannot be used with this API and what to install; None if it can.

    Args:
        distribution: Name of the plugin's distribution.
        version: Its version.
        declaration: What it declared, as found by `declared`.
    """
    who = f"{distribution} {version}"
    if declaration is None:
        return (
            f"{who} does not say which plugin API it was built for. This tfdist has plugin API "
            f"{PLUGIN_API}, and a plugin's metadata must hold a keyword such as "
            f"'{KEYWORD}{PLUGIN_API}'. Install a release of {distribution} that declares it."
        )
    try:
        api_range = parse_range(declaration)
    except ValueError as error:
        return (
            f"{who} declares its plugin API in a way that cannot be read. {error}. Install a "
            f"release of {distribution} with a keyword such as '{KEYWORD}{PLUGIN_API}'."
        )
    if PLUGIN_API in api_range:
        return None
    older = api_range.first > PLUGIN_API
    remedy = (
        "Upgrade tfdist (`pip install --upgrade tfdist`)"
        if older
        else f"Upgrade the plugin (`pip install --upgrade {distribution}`)"
    )
    return (
        f"{who} does not fit this tfdist. It was built for plugin API {api_range}, and this tfdist "
        f"has {PLUGIN_API}. {remedy}, or install releases of both that agree."
    )
