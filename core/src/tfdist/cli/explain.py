"""`tfdist explain`: what a choice would run where, or why it cannot run here."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import click

from tfdist import plugins
from tfdist.cli.output import show_fields, show_json
from tfdist.errors import TfdistError
from tfdist.selection import Choice, choose_strategy, names
from tfdist.selection.availability import require
from tfdist.specs import CrossDeviceOpsSpec

Plan = dict[str, object]


@click.command("explain")
@click.argument("spec", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def explain(context: click.Context, spec: str | None, as_json: bool) -> None:
    """Say what SPEC would run where, before a job starts.

    SPEC is a strategy's name, with options if wanted: 'mirrored?devices=CPU:0,CPU:1'. Without it,
    TFDIST_STRATEGY is read. Ends with code 1 if the choice cannot run here, and says why.
    """
    plan = _plan(choose_strategy(spec))
    if as_json:
        show_json(plan)
    else:
        show_fields((name.replace("_", " "), _text(value)) for name, value in plan.items())
    context.exit(1 if "cannot_run_here" in plan else 0)


def _plan(choice: Choice) -> Plan:
    offer = choice.offer
    plan: Plan = {
        "strategy": offer.spec.name,
        "distribution": str(offer.plugin),
        "options": {name: _plain(value) for name, value in choice.options.items()},
    }
    try:
        require(offer)
        description = _describe(choice)
        _require_ops(description.get("cross_device_ops"))
    except TfdistError as error:
        return {**plan, "cannot_run_here": str(error)}
    return {**plan, **_readable(description)}


def _describe(choice: Choice) -> Mapping[str, Any]:
    """Ask the strategy's class what it would do, if it can say."""
    describe = getattr(choice.target, "describe", None)
    if not callable(describe):
        return {}
    return cast("Callable[..., Mapping[str, Any]]", describe)(**choice.options)


def _require_ops(name: object) -> None:
    """Check what the cross-device ops need, when they go by a name that plugins offer."""
    registry = plugins.current()
    known = {each for offer in registry.offers(CrossDeviceOpsSpec) for each in offer.spec.names}
    if isinstance(name, str) and name in known:
        require(names.find(registry, CrossDeviceOpsSpec, name))


def _readable(description: Mapping[str, Any]) -> Plan:
    plan: Plan = {name: _plain(value) for name, value in description.items()}
    replicas = plan.get("replicas")
    if "input" not in plan and isinstance(replicas, int):
        plan["input"] = _sharding(replicas)
    return plan


def _sharding(replicas: int) -> str:
    if replicas == 1:
        return "each global batch goes to the one replica whole"
    return (
        f"each global batch is split over {replicas} replicas in order, in shares as even as "
        "possible; a short last batch may leave shares uneven or empty"
    )


def _plain(value: object) -> object:
    """Turn a value into what JSON can hold."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, Sequence):
        return [_plain(each) for each in value]
    return str(value)


def _text(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={_text(each)}" for name, each in value.items()) or "none given"
    if isinstance(value, list):
        return ", ".join(_text(each) for each in value) or "none"
    return str(value)
