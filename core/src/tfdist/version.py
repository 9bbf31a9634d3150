"""The version of this tfdist."""

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as _installed_version


def _version() -> str:
    try:
        return _installed_version("tfdist")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "0+unknown"


VERSION = _version()
