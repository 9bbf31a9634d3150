"""The `tfdist` command line."""

from tfdist.cli.main import main

__all__ = ["main"]
