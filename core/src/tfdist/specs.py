"""The records that plugins hand to the core: what there is, where it is, what it can do.

A spec is data. Its `target` is the path of a class, imported only when someone asks for it by name,
so a program may list every strategy that is installed without importing TensorFlow.
"""

import re
from collections.abc import Iterable
from typing import Any

from attrs import Attribute, field, frozen

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.\-]*")
_TARGET = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


def _strings(value: str | Iterable[str]) -> tuple[str, ...]:
    """Turn one string or several into a tuple, so that `roles="worker"` is not five letters."""
    return (value,) if isinstance(value, str) else tuple(value)


def _check_name(record: object, attribute: "Attribute[str]", value: str) -> None:
    _check_pattern(record, attribute, value, _NAME, "letters, digits, '_', '-' or '.'")


def _check_names(
    record: object, attribute: "Attribute[tuple[str, ...]]", value: tuple[str, ...]
) -> None:
    for name in value:
        _check_pattern(record, attribute, name, _NAME, "letters, digits, '_', '-' or '.'")


def _check_target(record: object, attribute: "Attribute[str]", value: str) -> None:
    _check_pattern(record, attribute, value, _TARGET, "'package.module:ClassName'")


def _check_pattern(
    record: object,
    attribute: "Attribute[Any]",
    value: object,
    pattern: re.Pattern[str],
    what: str,
) -> None:
    # A ValueError, as attrs validators raise: a plugin's author sees it, not the plugin's user.
    if not isinstance(value, str) or not pattern.fullmatch(value):
        kind = type(record).__name__
        raise ValueError(f"{kind}.{attribute.name} is {value!r}; expected {what}")


@frozen(kw_only=True)
class Capabilities:
    """What a plugin's offer can do, and what it needs.

    Validation, `tfdist doctor` and the conformance suites read this record; nothing is found out by
    trying and failing.

    Attributes:
        devices: Types of device it runs on, as TensorFlow spells them (`"CPU"`, `"GPU"`, `"TPU"`).
        collectives: Operations it offers: `"reduce"`, `"batch_reduce"`, `"broadcast"`, `"gather"`,
            `"all_reduce"`, `"all_gather"`, `"reduce_scatter"`, `"all_to_all"`.
        dtypes: Kinds of dtype those take: `"floating"`, `"integer"`, `"bool"`, `"complex"`,
            `"string"`.
        tracing: How the replicas' step can be traced: `"once"` for all, `"per_replica"`.
        partial_batches: Whether replicas may have uneven or empty shares of a batch.
        sparse: Whether it takes `tf.IndexedSlices` without making them dense.
        export: Whether models made under it can be written as SavedModel.
        elastic: Whether members may come and go while it runs.
        multi_process: Whether it spans several processes.
        hardware: Types of device that must be present; it cannot run without them.
        modules: Python modules that must be importable beyond what the plugin depends on.
    """

    devices: tuple[str, ...] = field(default=("CPU", "GPU"), converter=_strings)
    collectives: tuple[str, ...] = field(default=(), converter=_strings)
    dtypes: tuple[str, ...] = field(
        default=("floating", "integer", "bool", "complex"), converter=_strings
    )
    tracing: tuple[str, ...] = field(default=("per_replica",), converter=_strings)
    partial_batches: bool = True
    sparse: bool = True
    export: bool = True
    elastic: bool = False
    multi_process: bool = False
    hardware: tuple[str, ...] = field(default=(), converter=_strings)
    modules: tuple[str, ...] = field(default=(), converter=_strings)


@frozen(kw_only=True)
class Spec:
    """What every offer of a plugin has.

    Attributes:
        name: The name users ask for.
        target: Where the class is, as `"package.module:ClassName"`.
        summary: One line for people who choose.
        aliases: Other names for the same.
        capabilities: What it can do and what it needs.
    """

    name: str = field(validator=_check_name)
    target: str = field(validator=_check_target)
    summary: str = ""
    aliases: tuple[str, ...] = field(default=(), converter=_strings, validator=_check_names)
    capabilities: Capabilities = Capabilities()

    @property
    def names(self) -> tuple[str, ...]:
        """The name and the aliases."""
        return (self.name, *self.aliases)


@frozen(kw_only=True)
class StrategySpec(Spec):
    """A strategy; its target is called with the user's options and returns the strategy.

    Attributes:
        roles: Kinds of task that processes under it can be: `"worker"`, `"chief"`, `"ps"`.
    """

    roles: tuple[str, ...] = field(default=("worker",), converter=_strings)


@frozen(kw_only=True)
class CrossDeviceOpsSpec(Spec):
    """Operations on values of several devices; its target is called with the user's options.

    Attributes:
        kind: `"graph"` for values of several devices of one process, `"spmd"` for collectives that
            are called from inside the replicas' program.
    """

    kind: str = field(default="graph")

    @kind.validator
    def _check_kind(self, _attribute: "Attribute[str]", value: str) -> None:
        if value not in ("graph", "spmd"):
            raise ValueError(f"CrossDeviceOpsSpec.kind is {value!r}; expected 'graph' or 'spmd'")


@frozen(kw_only=True)
class InputSpec(Spec):
    """A way to split a dataset over replicas."""


@frozen(kw_only=True)
class FailureHandlerSpec(Spec):
    """What to do when something fails.

    Attributes:
        events: What it answers: `"preemption"`, `"peer_lost"`, `"timeout"`.
    """

    events: tuple[str, ...] = field(default=(), converter=_strings)


@frozen(kw_only=True)
class CommandSpec(Spec):
    """A subcommand of the `tfdist` command line; its target is a `click.Command`."""
