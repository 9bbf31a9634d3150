"""`tfdist doctor`: what is installed, and what would not work on this machine and why."""

import os
import sys

import click

from tfdist import plugins
from tfdist.cli.examination import Report, examine
from tfdist.cli.output import show_fields, show_json, show_table


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def doctor(context: click.Context, as_json: bool) -> None:
    """Check this machine: versions, devices, plugins, and what would not work here and why.

    Ends with code 1 if something is wrong: no TensorFlow, an unsupported one, a plugin that could
    not be loaded, a name that two distributions claim. What merely needs other hardware is listed
    and is no failure.
    """
    report = examine(plugins.current())
    if as_json:
        _show_as_json(report)
    else:
        _show(report)
    context.exit(1 if report.problems else 0)


def _show(report: Report) -> None:
    show_fields(report.versions.items())
    click.echo()
    show_fields([("devices", ", ".join(report.devices) or "unknown, as TensorFlow is missing")])
    if strategy := os.environ.get("TFDIST_STRATEGY"):
        show_fields([("TFDIST_STRATEGY", strategy)])
    if report.verdicts:
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


def _show_as_json(report: Report) -> None:
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
