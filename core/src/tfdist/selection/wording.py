"""Words and lists for errors."""

import difflib
from collections.abc import Iterable, Mapping

from tfdist.specs import (
    CommandSpec,
    CrossDeviceOpsSpec,
    FailureHandlerSpec,
    InputSpec,
    Spec,
    StrategySpec,
)

WORDS: Mapping[type[Spec], str] = {
    StrategySpec: "strategy",
    CrossDeviceOpsSpec: "cross-device op",
    InputSpec: "input",
    FailureHandlerSpec: "failure handler",
    CommandSpec: "command",
}


def near(name: str, names: Iterable[str]) -> list[str]:
    """Return the names that someone who typed `name` may have meant, the nearest first."""
    spellings = {candidate.lower(): candidate for candidate in sorted(names)}
    close = difflib.get_close_matches(name.lower(), spellings, n=3, cutoff=0.6)
    return [spellings[spelling] for spelling in close]


def quoted(names: Iterable[str], last: str = "or") -> str:
    """Write names as `'a', 'b' or 'c'`."""
    *first, end = (repr(name) for name in names)
    return f"{', '.join(first)} {last} {end}" if first else end
