"""Choosing strategies and their parts by name."""

import logging
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import frozen

from tfdist import plugins
from tfdist.errors import OptionError, PluginError, UnknownNameError
from tfdist.plugins import Offer
from tfdist.selection import names, query, targets
from tfdist.selection.availability import require
from tfdist.selection.options import validated
from tfdist.selection.wording import WORDS
from tfdist.specs import CrossDeviceOpsSpec, FailureHandlerSpec, InputSpec, Spec, StrategySpec

if TYPE_CHECKING:
    from tfdist.strategies.base import Strategy

ENVIRONMENT = "TFDIST_STRATEGY"

SpecT = TypeVar("SpecT", bound=Spec)

_logger = logging.getLogger(__name__)


@frozen
class Choice:
    """An offer that was chosen, its target imported and the options for it checked."""

    offer: Offer[Spec]
    target: Callable[..., Any]
    options: Mapping[str, Any]

    def make(self) -> Any:
        """Call the target with the options.

        Raises:
            UnavailableError: If this machine lacks hardware or a module that the offer needs.
        """
        require(self.offer)
        return self.target(**self.options)


def strategy(spec: str | None = None, /, **options: Any) -> "Strategy":
    """Make the strategy that a name stands for.

    Args:
        spec: A name such as `"mirrored"`, with options if wanted as in
            `"mirrored?devices=CPU:0,CPU:1"`, or `"distribution/name"` where two distributions claim
            one name. Without it, the environment variable `TFDIST_STRATEGY` is read, which has the
            same form and is otherwise ignored.
        **options: Options of the strategy. They take the place of options in `TFDIST_STRATEGY`.
            A text is converted to what the strategy asks for, as in the text form.

    Returns:
        The strategy, ready for `scope()` and `run()`.

    Raises:
        OptionError: If neither a name nor `TFDIST_STRATEGY` is given, the text cannot be read, or
            an option is unknown, missing, of the wrong type, or given twice.
        UnknownNameError: If no installed plugin offers the name.
        PluginError: If two distributions claim the name, or the plugin that brings it was not
            loaded; the original error is chained.
        UnavailableError: If this machine lacks hardware or a module that the strategy needs.
        TensorFlowMissingError: If TensorFlow is not installed.
    """
    chosen = choose_strategy(spec, **options)
    made = chosen.make()
    _logger.info("strategy %s chosen, with %s", chosen.offer.qualified_name, dict(chosen.options))
    return cast("Strategy", made)


def strategies() -> list[StrategySpec]:
    """List the strategies that installed plugins offer, by name. Imports no TensorFlow."""
    return [offer.spec for offer in plugins.current().offers(StrategySpec)]


def choose_strategy(spec: str | None = None, /, **options: Any) -> Choice:
    """Do what `strategy` does, short of making it.

    Raises:
        TfdistError: As `strategy`.
    """
    if spec is not None:
        return _choose(StrategySpec, spec, options)
    text = os.environ.get(ENVIRONMENT, "").strip()
    if not text:
        raise OptionError(
            f"No strategy can be made. Neither a name nor the environment variable {ENVIRONMENT} "
            "was given; expected one of them. Call tfdist.strategy('mirrored'), or set "
            f"{ENVIRONMENT}=mirrored; `tfdist strategies` lists the names."
        )
    try:
        parsed = query.parse(text)
        return _prepare(StrategySpec, parsed.name, {**parsed.options, **options})
    except (OptionError, UnknownNameError, PluginError) as error:
        error.args = (f"{error} This choice came from {ENVIRONMENT}={text!r}.",)
        raise


def cross_device_ops(name: str, /, **options: Any) -> Any:
    """Make the cross-device ops that a name stands for, such as `"hierarchical_copy?num_packs=2"`.

    Raises:
        TfdistError: As `strategy`.
    """
    return _choose(CrossDeviceOpsSpec, name, options).make()


def input_distributor(name: str, /) -> Callable[..., Any]:
    """Import what splits datasets and goes by this name.

    Raises:
        TfdistError: As `strategy`.
    """
    return targets.load(names.find(plugins.current(), InputSpec, name))


def failure_handler(name: str, /, **options: Any) -> Any:
    """Make the failure handler that a name stands for.

    Raises:
        TfdistError: As `strategy`.
    """
    return _choose(FailureHandlerSpec, name, options).make()


def _choose(kind: type[SpecT], text: str, options: Mapping[str, Any]) -> Choice:
    if not isinstance(text, str):
        raise OptionError(
            f"No {WORDS[kind]} can be chosen. Its name is {text!r}; expected text such as "
            "'name' or 'name?option=value'. Pass the name, or use the object as it is."
        )
    parsed = query.parse(text)
    twice = sorted(parsed.options.keys() & options.keys())
    if twice:
        raise OptionError(
            f"The {WORDS[kind]} {parsed.name!r} cannot be made. Its option {twice[0]!r} is "
            f"given twice, in {text!r} and as {options[twice[0]]!r}; expected once. Drop one."
        )
    return _prepare(kind, parsed.name, {**parsed.options, **options})


def _prepare(kind: type[SpecT], name: str, options: Mapping[str, Any]) -> Choice:
    offer = names.find(plugins.current(), kind, name)
    target = targets.load(offer)
    return Choice(offer, target, validated(offer, target, options))
