"""The reference pages are a contract: each thing has its section, and nothing else has."""

import inspect
import os
import re
from pathlib import Path

import attrs
import click
import pytest
from tests.docs.pages import DOCS, sections, terms

import tfdist
from tfdist import hookspecs, plugins
from tfdist.cli.loading import load_command
from tfdist.selection import targets
from tfdist.specs import Capabilities, CommandSpec, CrossDeviceOpsSpec, Spec, StrategySpec

ROOT = DOCS.parent
SOURCES = [*ROOT.glob("core/src/**/*.py"), *ROOT.glob("plugins/*/src/**/*.py")]


def own_offers(kind: type[Spec]) -> dict[str, plugins.Offer[Spec]]:
    """What this repository offers, whatever else is installed."""
    return {
        offer.spec.name: offer
        for offer in plugins.current().offers(kind)
        if offer.plugin.distribution == "tfdist"
        or offer.plugin.distribution.startswith("tfdist-plugin-")
    }


def test_every_hook_has_its_section_with_its_signature():
    hooks = [
        f"{name}{str(inspect.signature(fn)).replace('tfdist.specs.', '')}"
        for name, fn in vars(hookspecs).items()
        if name.startswith("tfdist_")
    ]
    documented = [title for title in sections("writing-a-plugin.md") if title.startswith("tfdist_")]
    assert documented == [hook.replace("collections.abc.", "") for hook in hooks]


def test_every_capability_is_explained():
    text = sections("writing-a-plugin.md")["Specs"]
    assert terms(text) == [field.name for field in attrs.fields(Capabilities)]


def test_every_error_has_its_section():
    errors = {
        name: error
        for name, error in vars(tfdist.errors).items()
        if inspect.isclass(error) and issubclass(error, tfdist.TfdistError)
    }
    pages = sections("errors.md")
    assert sorted(pages) == sorted([*errors, "Errors"])
    for name, error in errors.items():
        builtins = [base.__name__ for base in error.__bases__ if base is not tfdist.TfdistError]
        assert all(f"`{builtin}`" in pages[name] for builtin in builtins), name


@pytest.mark.parametrize(
    ("page", "kind"),
    [("strategies.md", StrategySpec), ("cross-device-ops.md", CrossDeviceOpsSpec)],
)
def test_every_option_has_its_paragraph(page, kind):
    pages = sections(page)
    for name, offer in own_offers(kind).items():
        parameters = list(inspect.signature(targets.load(offer)).parameters)
        assert terms(pages[name]) == parameters, name


def test_no_section_is_left_of_a_strategy_that_is_gone():
    documented = {title for title in sections("strategies.md") if " " not in title}
    assert documented == set(own_offers(StrategySpec))


def test_every_command_has_its_section_and_every_flag_its_paragraph():
    pages = sections("cli.md")
    commands = own_offers(CommandSpec)
    assert {title for title in pages if title.startswith("tfdist ")} == {
        f"tfdist {name}" for name in commands
    }
    for name, offer in commands.items():
        parameters = load_command(offer).params
        flags = [each.opts[0] for each in parameters if isinstance(each, click.Option)]
        assert terms(pages[f"tfdist {name}"]) == flags


def test_every_environment_variable_has_its_paragraph():
    named = re.compile(r"\bTFDIST_[A-Z_]+\b")
    used = {name for path in SOURCES for name in named.findall(path.read_text("utf-8"))}
    assert set(terms(sections("cli.md")["Environment variables"])) == used


@pytest.mark.parametrize(
    "page", [*DOCS.glob("*.md"), *ROOT.glob("*.md")], ids=lambda page: page.name
)
def test_links_lead_somewhere(page: Path):
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text("utf-8"))
    assert [link for link in links if not os.path.exists(page.parent / link)] == []  # noqa: PTH110
