"""C29: installed plugins, one broken; one name twice; a typo; an editable install; loading off.

Each case runs in a fresh interpreter whose site folder holds distributions as installers lay them
out, so that `.pth` files are read and nothing was imported before.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field

from tfdist.testing.distributions import write_distribution

PLUGIN = """
import tfdist

@tfdist.hookimpl
def tfdist_strategies():
    return [tfdist.StrategySpec(name={name!r}, target="{module}_target:Strategy")]
"""
TARGET = """
class Strategy:
    def __init__(self, width: int = 1):
        self.width = width
"""
HEAD = "import json, site\nsite.addsitedir({site!r})\nimport tfdist\nfrom tfdist import plugins\n"


@define
class Site:
    """A site folder, and programs that run with it."""

    path: Path
    environment: dict[str, str] = field(factory=dict)

    def install(self, distribution: str, name: str, version: str, **options: Any) -> None:
        module = distribution.replace("-", "_")
        write_distribution(
            self.path,
            distribution,
            version=version,
            modules={module: PLUGIN.format(name=name, module=module), f"{module}_target": TARGET},
            entry_points={distribution: module},
            **options,
        )

    def run(self, code: str) -> Any:
        """Run a program that prints JSON."""
        clean = {key: value for key, value in os.environ.items() if not key.startswith("TFDIST")}
        done = subprocess.run(
            [sys.executable, "-c", HEAD.format(site=str(self.path)) + code],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env=clean | self.environment,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def names(self) -> list[str]:
        """List strategies, those aside that the project's own plugins bring where they are."""
        offers, specs = self.run(
            "offers = plugins.current().offers(tfdist.StrategySpec)\n"
            "print(json.dumps([[(o.spec.name, o.plugin.distribution) for o in offers],"
            " [s.name for s in tfdist.strategies()]]))"
        )
        assert specs == [name for name, _ in offers]
        return [name for name, brings in offers if not brings.startswith("tfdist-plugin-")]

    def error(self, name: str) -> dict[str, str]:
        """Ask for a strategy, and tell of the error and what caused it."""
        code = (
            f"try:\n    tfdist.strategy({name!r})\n"
            "except tfdist.TfdistError as error:\n"
            "    print(json.dumps({'kind': type(error).__name__, 'text': str(error), "
            "'cause': repr(error.__cause__)}))"
        )
        found: dict[str, str] = self.run(code)
        return found


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """Three plugins: two that work, and one that fails when it is imported."""
    site = Site(tmp_path / "site-packages")
    site.install("vendor-ring", "ring", "1.2.0")
    site.install("vendor-star", "star", "2.0b1")
    write_distribution(
        site.path,
        "vendor-torus",
        version="0.7.3",
        modules={"vendor_torus": "raise OSError('libtorus.so.1: cannot open shared object file')"},
        entry_points={"torus": "vendor_torus"},
    )
    return site


CAUSE = "OSError('libtorus.so.1: cannot open shared object file')"


def test_c29_listing_works_and_marks_the_broken_one(site: Site) -> None:
    assert site.names() == ["one_device", "ring", "star"]
    states = site.run(
        "print(json.dumps([[p.distribution, p.version, p.state.value, p.error] "
        "for p in plugins.current().plugins if p.distribution.startswith('vendor')]))"
    )
    assert states == [
        ["vendor-ring", "1.2.0", "loaded", None],
        ["vendor-star", "2.0b1", "loaded", None],
        [
            "vendor-torus",
            "0.7.3",
            "broken",
            "OSError: libtorus.so.1: cannot open shared object file",
        ],
    ]


def test_c29_the_command_line_lists_it_too(site: Site) -> None:
    found = site.run("from tfdist.cli import main\nmain(['plugins', '--json'])")
    [torus] = [plugin for plugin in found if plugin["state"] != "loaded"]
    assert (torus["name"], torus["distribution"], torus["version"]) == (
        "torus",
        "vendor-torus",
        "0.7.3",
    )
    assert "libtorus.so.1" in torus["error"]


@pytest.mark.parametrize("name", ["torus", "vendor-torus/torus", "vendor-torus/anything"])
def test_c29_asking_for_the_broken_one_chains_the_cause(site: Site, name: str) -> None:
    assert site.error(name) == {
        "kind": "PluginError",
        "text": f"The strategy {name!r} cannot be used. It is brought by vendor-torus 0.7.3, which "
        "is broken: OSError: libtorus.so.1: cannot open shared object file. Repair or uninstall "
        "it; `tfdist plugins` shows how every plugin stands.",
        "cause": CAUSE,
    }


def test_c29_the_real_error_is_shown_when_nobody_knows_who_brings_a_name(site: Site) -> None:
    error = site.error("hypercube")
    assert error["kind"] == "PluginError"
    assert "It may be brought by vendor-torus 0.7.3, which is broken: OSError" in error["text"]
    assert error["cause"] == CAUSE


def test_c29_the_others_can_be_used(site: Site) -> None:
    assert site.run("print(json.dumps(tfdist.strategy('ring?width=3').width))") == 3
    assert site.run("print(json.dumps(tfdist.strategy('star', width=2).width))") == 2


def test_c29_two_distributions_claim_one_name(site: Site) -> None:
    site.install("other-ring", "ring", "5.1")
    error = site.error("ring")
    assert error == {
        "kind": "PluginError",
        "text": "The strategy 'ring' cannot be chosen by that name. It is claimed by other-ring "
        "5.1 and vendor-ring 1.2.0; one distribution was expected. Ask for 'other-ring/ring' or "
        "'vendor-ring/ring', or uninstall one of them.",
        "cause": "None",
    }
    module = "print(json.dumps(type(tfdist.strategy({!r})).__module__))"
    assert site.run(module.format("other-ring/ring")) == "other_ring_target"
    assert site.run(module.format("vendor-ring/ring?width=2")) == "vendor_ring_target"
    assert site.names() == ["one_device", "ring", "ring", "star"]


@pytest.mark.parametrize(("typed", "meant"), [("rng", "ring"), ("Star", "star"), ("ringg", "ring")])
def test_c29_a_mistyped_name_suggests(site: Site, typed: str, meant: str) -> None:
    error = site.error(typed)
    assert error["kind"] == "UnknownNameError"
    assert f"Did you mean '{meant}'?" in error["text"]


def test_c29_an_editable_install_is_found(site: Site, tmp_path: Path) -> None:
    site.install("vendor-mesh", "mesh", "0.1.dev0", source=tmp_path / "checkout" / "src")
    assert site.names() == ["mesh", "one_device", "ring", "star"]
    assert site.run("print(json.dumps(tfdist.strategy('mesh?width=4').width))") == 4
    found = site.run("from tfdist.cli import main\nmain(['plugins', '--json'])")
    assert [each["name"] for each in found if each["editable"] and "vendor" in each["name"]] == [
        "vendor-mesh"
    ]


def test_c29_the_same_distribution_twice_on_the_path_counts_once(site: Site) -> None:
    again = f"import sys\nsys.path.insert(0, {str(site.path)!r} + '/../site-packages')\n"
    names = site.run(again + "print(json.dumps([s.name for s in tfdist.strategies()]))")
    assert names.count("ring") == 1


def test_c29_loading_switched_off(site: Site) -> None:
    site.environment = {"TFDIST_PLUGIN_AUTOLOAD": "0"}
    loaded = (
        "import sys\nfrom tfdist.cli import main\ntfdist.strategies()\n"
        "print(json.dumps([[p.name for p in plugins.current().plugins if p.state == 'loaded'], "
        "[m for m in sys.modules if m.startswith('vendor_')]]))"
    )
    assert site.names() == ["one_device"]
    assert site.run(loaded) == [["builtin"], []]
    error = site.error("vendor-ring")
    assert (
        "which is disabled: loading of plugins is switched off by TFDIST_PLUGIN_AUTOLOAD=0"
        in (error["text"])
    )


def test_c29_one_plugin_switched_off(site: Site) -> None:
    site.environment = {"TFDIST_DISABLE_PLUGINS": "vendor-torus,vendor-star"}
    assert site.names() == ["one_device", "ring"]


@pytest.mark.parametrize(("api", "word"), [("7.0", "was built for plugin API 7.0-7.x"), (None, "")])
def test_c29_a_plugin_for_another_api_is_not_imported(
    site: Site, api: str | None, word: str
) -> None:
    write_distribution(
        site.path,
        "vendor-next",
        version="9.0",
        api=api,
        modules={"vendor_next": "raise SystemExit('imported')"},
        entry_points={"next": "vendor_next"},
    )
    error = site.error("next")
    assert error["kind"] == "PluginError"
    assert "which is incompatible: vendor-next 9.0 does" in error["text"]
    assert word in error["text"]


def test_c29_fifty_plugins_are_listed_quickly(tmp_path: Path) -> None:
    site = Site(tmp_path / "site-packages")
    for index in range(50):
        site.install(f"many-{index}", f"many{index}", "1.0")
    site.names()  # writes the bytecode, as an installer would
    code = (
        "import sys, time\nprint(json.dumps([len(tfdist.strategies()), time.process_time(), "
        "'tensorflow' in sys.modules]))"
    )
    runs = [site.run(code) for _ in range(5)]
    assert all(count >= 51 and not tensorflow for count, _, tensorflow in runs)
    # The processor's time of the whole process, the interpreter's start included, so that other
    # programs on the machine do not count.
    assert min(seconds for _, seconds, _ in runs) < 0.15
