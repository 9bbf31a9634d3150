"""Importing the class that a spec points at, when it is asked for and not before."""

import importlib
from collections.abc import Callable
from functools import reduce
from types import ModuleType
from typing import Any

from tfdist.errors import PluginError, TensorFlowMissingError
from tfdist.plugins import Offer
from tfdist.specs import Spec


def load(offer: Offer[Spec]) -> Callable[..., Any]:
    """Import the target of an offer.

    Raises:
        TensorFlowMissingError: If it needs TensorFlow and there is none.
        PluginError: If it cannot be imported, is not there, or cannot be called.
    """
    module, _, attribute = offer.spec.target.partition(":")
    try:
        target: object = reduce(getattr, attribute.split("."), importlib.import_module(module))
    except TensorFlowMissingError:
        raise
    # Anything may come out of a stranger's module when it is imported; it is chained.
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and error.name == "tensorflow":
            raise tensorflow_missing(repr(offer.spec.name)) from error
        raise _unusable(offer, f"{type(error).__name__}: {error}") from error
    if not callable(target):
        raise _unusable(offer, f"it is {target!r}, which cannot be called")
    return target


def tensorflow(what: str) -> ModuleType:
    """Import TensorFlow for something that needs it.

    Raises:
        TensorFlowMissingError: If it is not installed.
    """
    try:
        # By its name, as nothing here may import it unless it is called for.
        return importlib.import_module("tensorflow")
    except ModuleNotFoundError as error:
        if error.name != "tensorflow":
            raise
        raise tensorflow_missing(what) from error


def tensorflow_missing(what: str) -> TensorFlowMissingError:
    """Say in one sentence that TensorFlow is needed and how to get it."""
    return TensorFlowMissingError(
        f"{what} needs TensorFlow, which is not installed: run `pip install 'tfdist[tf-cpu]'`, "
        "`'tfdist[tf-cuda]'` for NVIDIA GPUs, or `'tfdist[tf]'`.",
        name="tensorflow",
    )


def _unusable(offer: Offer[Spec], seen: str) -> PluginError:
    return PluginError(
        f"{offer.spec.name!r} of {offer.plugin} cannot be used. Its target {offer.spec.target!r} "
        f"should be a class; {seen}. Repair or upgrade {offer.plugin.distribution}."
    )
