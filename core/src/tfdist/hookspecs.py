"""The hooks of a tfdist plugin.

A plugin is a module named by an entry point of the group `tfdist.plugins`. It implements any of
these functions and marks each with `tfdist.hookimpl`. The module is imported whenever strategies
are listed or chosen, so it must be light: records only, and no import of TensorFlow.
"""

from collections.abc import Iterable

import pluggy

from tfdist.specs import (
    CommandSpec,
    CrossDeviceOpsSpec,
    FailureHandlerSpec,
    InputSpec,
    StrategySpec,
)

PROJECT = "tfdist"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def tfdist_strategies() -> Iterable[StrategySpec]:  # type: ignore[empty-body]
    """Offer strategies.

    Called when plugins are first listed or a name is first looked up, in the process that asks, on
    the thread that asks; once for each loaded plugin and registry.

    Returns:
        One record for each strategy. An empty iterable is allowed. Two records with one name, or
        anything but `StrategySpec`, mark the plugin as broken.

    Raises:
        Exception: Whatever is raised marks the whole plugin as broken: it is listed with the error,
            none of its offers is used, other plugins are not affected, and whoever asks for one of
            its strategies gets a `PluginError` with this error chained.
    """


@hookspec
def tfdist_cross_device_ops() -> Iterable[CrossDeviceOpsSpec]:  # type: ignore[empty-body]
    """Offer operations on values of several devices, or collectives.

    Called when plugins are first listed or a name is first looked up, right after
    `tfdist_strategies`; once for each loaded plugin and registry.

    Returns:
        One record for each, `kind` telling operations of one process from collectives. An empty
        iterable is allowed. Two records with one name, or anything but `CrossDeviceOpsSpec`, mark
        the plugin as broken.

    Raises:
        Exception: Marks the whole plugin as broken, as for `tfdist_strategies`.
    """


@hookspec
def tfdist_inputs() -> Iterable[InputSpec]:  # type: ignore[empty-body]
    """Offer ways to split a dataset over replicas.

    Called when plugins are first listed or a name is first looked up, right after
    `tfdist_cross_device_ops`; once for each loaded plugin and registry.

    Returns:
        One record for each. An empty iterable is allowed. Two records with one name, or anything
        but `InputSpec`, mark the plugin as broken.

    Raises:
        Exception: Marks the whole plugin as broken, as for `tfdist_strategies`.
    """


@hookspec
def tfdist_failure_handlers() -> Iterable[FailureHandlerSpec]:  # type: ignore[empty-body]
    """Offer answers to failures: preemption, a lost peer, an expired wait.

    Called when plugins are first listed or a name is first looked up, right after `tfdist_inputs`;
    once for each loaded plugin and registry.

    Returns:
        One record for each. An empty iterable is allowed. Two records with one name, or anything
        but `FailureHandlerSpec`, mark the plugin as broken.

    Raises:
        Exception: Marks the whole plugin as broken, as for `tfdist_strategies`.
    """


@hookspec
def tfdist_commands() -> Iterable[CommandSpec]:  # type: ignore[empty-body]
    """Offer subcommands of the `tfdist` command line.

    Called when plugins are first listed or a name is first looked up, right after
    `tfdist_failure_handlers`; once for each loaded plugin and registry. Running `tfdist strategies`
    does not import the targets; running or helping a subcommand imports its own.

    Returns:
        One record for each, its target a `click.Command`. An empty iterable is allowed. Names of
        built-in commands cannot be taken. Two records with one name, or anything but `CommandSpec`,
        mark the plugin as broken.

    Raises:
        Exception: Marks the whole plugin as broken, as for `tfdist_strategies`; the rest of the
            command line goes on working.
    """
