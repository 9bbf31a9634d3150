"""`tfdist strategies`: what can be chosen by name."""

import attrs
import click

from tfdist import plugins
from tfdist.cli.output import show_json, show_table
from tfdist.plugins import Offer
from tfdist.specs import CrossDeviceOpsSpec, Spec, StrategySpec


@click.command("strategies")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_strategies(as_json: bool) -> None:
    """List the strategies and cross-device ops that can be chosen. Imports no TensorFlow."""
    registry = plugins.current()
    strategies = registry.offers(StrategySpec)
    cross_device_ops = registry.offers(CrossDeviceOpsSpec)
    if as_json:
        show_json(
            {
                "strategies": [_record(offer) for offer in strategies],
                "cross_device_ops": [_record(offer) for offer in cross_device_ops],
            }
        )
        return
    clashing = _clashing(strategies) | _clashing(cross_device_ops)
    show_table(
        ("strategy", "distribution", "summary"), [_row(offer, clashing) for offer in strategies]
    )
    click.echo()
    show_table(
        ("cross-device op", "distribution", "summary"),
        [_row(offer, clashing) for offer in cross_device_ops],
    )


def _record(offer: Offer[Spec]) -> dict[str, object]:
    return {
        **attrs.asdict(offer.spec),
        "distribution": offer.plugin.distribution,
        "version": offer.plugin.version,
    }


def _row(offer: Offer[Spec], clashing: set[str]) -> tuple[str, ...]:
    shown = offer.qualified_name if offer.spec.name in clashing else offer.spec.name
    return (", ".join((shown, *offer.spec.aliases)), str(offer.plugin), offer.spec.summary)


def _clashing(offers: tuple[Offer[Spec], ...]) -> set[str]:
    """Find the names that more than one distribution claims."""
    every = [name for offer in offers for name in offer.spec.names]
    return {name for name in every if every.count(name) > 1}
