"""The command itself: help, errors, subcommands of plugins, and what it does not import."""

import subprocess
import sys

import pytest
from core.tests.cli.conftest import Tfdist
from core.tests.conftest import PluginSite

import tfdist

COMMAND = """
import tfdist

@tfdist.hookimpl
def tfdist_commands():
    return [
        tfdist.CommandSpec(name="greet", target="{target}", summary="Says hello.", aliases="hi"),
        tfdist.CommandSpec(name="plugins", target="greetings:greet", summary="Taken."),
    ]
"""

GREETINGS = """
import click

@click.command()
@click.argument("name")
@click.option("--loud", is_flag=True, help="Shout.")
def greet(name, loud):
    \"\"\"Say hello to NAME.\"\"\"
    click.echo(f"hello {name}" + "!" * loud)

def no_command(): ...
"""


def _add(site: PluginSite, name: str = "greeter", target: str = "greetings:greet") -> None:
    site.add(name, COMMAND.format(target=target), more={"greetings": GREETINGS})


def test_version(tfdist_command: Tfdist) -> None:
    assert tfdist_command("--version").out == f"tfdist {tfdist.__version__}\n"


def test_help(plugin_site: PluginSite, tfdist_command: Tfdist) -> None:
    _add(plugin_site)
    shown = tfdist_command("--help")
    assert shown.lines[-7:] == [
        "  devices     List the devices that TensorFlow sees.",
        "  doctor      Say what is installed, and what would not work here.",
        "  explain     Say what a choice would run where.",
        "  greet       Says hello.",
        "  hi          Says hello.",
        "  plugins     List the installed plugins, loaded or not.",
        "  strategies  List what can be chosen by name.",
    ]
    assert "greetings" not in sys.modules


def test_a_plugins_command(plugin_site: PluginSite, tfdist_command: Tfdist) -> None:
    _add(plugin_site)
    assert tfdist_command("greet", "you", "--loud").out == "hello you!\n"
    assert tfdist_command("hi", "you").out == "hello you\n"
    assert "Say hello to NAME." in tfdist_command("greet", "--help").out
    wrong = tfdist_command("greet")
    assert (wrong.code, "Missing argument 'NAME'" in wrong.err) == (2, True)


def test_a_plugin_cannot_take_a_command_of_the_core(
    plugin_site: PluginSite, tfdist_command: Tfdist
) -> None:
    _add(plugin_site)
    assert "builtin" in tfdist_command("plugins").out


def test_two_plugins_with_one_command(plugin_site: PluginSite, tfdist_command: Tfdist) -> None:
    _add(plugin_site, "greeter-a")
    _add(plugin_site, "greeter-b")
    assert "claimed by greeter-a, greeter-b: cannot be run" in tfdist_command("--help").out
    shown = tfdist_command("greet", "you", "--loud")
    assert shown.code == 1
    assert "It is claimed by greeter-a 1.0 and greeter-b 1.0" in shown.err


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("nowhere:greet", "ModuleNotFoundError: No module named 'nowhere'"),
        ("greetings:no_command", "expected a click.Command. Repair or upgrade greeter."),
    ],
)
def test_commands_that_cannot_be_run(
    plugin_site: PluginSite, tfdist_command: Tfdist, target: str, message: str
) -> None:
    _add(plugin_site, target=target)
    assert "greet" in tfdist_command("--help").out
    shown = tfdist_command("greet", "you")
    assert (shown.code, shown.out) == (1, "")
    assert message in shown.err


def test_a_broken_plugin_breaks_no_command(plugin_site: PluginSite, tfdist_command: Tfdist) -> None:
    plugin_site.add("broken", "raise SystemExit('no')")
    _add(plugin_site)
    assert tfdist_command("greet", "you").out == "hello you\n"
    assert tfdist_command("plugins").code == 0
    assert tfdist_command("--help").code == 0


def test_an_unknown_command(tfdist_command: Tfdist) -> None:
    shown = tfdist_command("plug")
    assert (shown.code, "No such command 'plug'" in shown.err) == (2, True)


def test_errors_are_one_line_and_no_traceback(
    plugin_site: PluginSite, tfdist_command: Tfdist, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = tfdist_command("explain", "xyzzy")
    assert (shown.code, shown.out) == (1, "")
    assert shown.err.startswith("Error: There is no strategy 'xyzzy'.")
    assert shown.err.count("\n") == 1
    monkeypatch.setenv("TFDIST_PLUGIN_AUTOLOAD", "maybe")
    assert tfdist_command("plugins").err.startswith("Error: TFDIST_PLUGIN_AUTOLOAD cannot be read.")


@pytest.mark.parametrize("command", ["plugins", "plugins --json", "strategies", "--help"])
def test_listing_imports_neither_tensorflow_nor_grpc(command: str) -> None:
    code = (
        "import sys\nfrom tfdist.cli import main\n"
        f"try:\n    main({command.split()!r})\nexcept SystemExit as end:\n    code = end.code\n"
        "heavy = {'tensorflow', 'keras', 'grpc', 'numpy', 'google.protobuf'} & set(sys.modules)\n"
        "sys.exit(f'{code} {heavy}' if code or heavy else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
