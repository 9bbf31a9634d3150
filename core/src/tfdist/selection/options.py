"""Checking options against the signature of the target, before anything is started."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from tfdist.errors import OptionError
from tfdist.plugins import Offer
from tfdist.selection.annotations import alternatives, describe
from tfdist.selection.text import convert, fits
from tfdist.selection.wording import near, quoted
from tfdist.specs import Spec

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def validated(
    offer: Offer[Spec], target: Callable[..., Any], options: Mapping[str, object]
) -> dict[str, Any]:
    """Check the options for a target, and turn those given as text into what it asks for.

    Args:
        offer: Where the target came from, for errors.
        target: The class or function that will be called with the options.
        options: Values by name; a text is converted unless the target takes text there.

    Returns:
        The options, ready for the call.

    Raises:
        OptionError: If an option is unknown, has a value of the wrong type, or is missing.
    """
    parameters = inspect.signature(target).parameters
    named = {name: each for name, each in parameters.items() if each.kind in _NAMED}
    takes_any = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())
    for name in options:
        if name not in named and not takes_any:
            raise _unknown(offer, name, options[name], named)
    for name, parameter in named.items():
        if parameter.default is inspect.Parameter.empty and name not in options:
            raise _missing(offer, parameter)
    return {
        name: _value(offer, target, named[name], value) if name in named else value
        for name, value in options.items()
    }


def _value(
    offer: Offer[Spec], target: Callable[..., Any], parameter: inspect.Parameter, value: object
) -> object:
    kinds = alternatives(parameter.annotation, target)
    if isinstance(value, str):
        try:
            return convert(value, kinds)
        except ValueError as error:
            raise _wrong(offer, parameter, value) from error
    if not fits(value, kinds):
        raise _wrong(offer, parameter, value)
    return value


def _wrong(offer: Offer[Spec], parameter: inspect.Parameter, value: object) -> OptionError:
    return OptionError(
        f"The option {parameter.name!r} of {offer.spec.name!r} ({offer.plugin}) cannot be used. It "
        f"is {value!r}; expected {describe(parameter)}. Give such a value or leave the option out."
    )


def _missing(offer: Offer[Spec], parameter: inspect.Parameter) -> OptionError:
    return OptionError(
        f"{offer.spec.name!r} ({offer.plugin}) cannot be made. Its option {parameter.name!r} was "
        f"not given; expected {describe(parameter)}. Give it, as in "
        f"{offer.spec.name + '?' + parameter.name + '=...'!r}."
    )


def _unknown(
    offer: Offer[Spec], name: str, value: object, named: Mapping[str, inspect.Parameter]
) -> OptionError:
    accepted = ", ".join(f"{each.name}: {describe(each)}" for each in named.values())
    close = near(name, named)
    advice = f"Did you mean {quoted(close)}?" if close else "Leave it out or use one of these."
    return OptionError(
        f"{offer.spec.name!r} ({offer.plugin}) has no option {name!r}. It was given as {value!r}; "
        f"expected {accepted or 'no options'}. {advice}"
    )
