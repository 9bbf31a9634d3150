"""The hookspecs say what an author must know."""

import inspect

import pytest

from tfdist import hookspecs, specs
from tfdist.plugins.loading import HOOKS


def test_the_declared_hooks_are_those_that_are_called() -> None:
    declared = {name for name in vars(hookspecs) if name.startswith("tfdist_")}
    assert declared == set(HOOKS)


@pytest.mark.parametrize("name", HOOKS)
def test_each_says_when_how_often_what_and_what_errors_mean(name: str) -> None:
    text = inspect.getdoc(getattr(hookspecs, name)) or ""
    for part in ("Called when", "once for each", "Returns:", "Raises:", HOOKS[name].__name__):
        assert part in text
    assert issubclass(HOOKS[name], specs.Spec)
