"""What the core itself offers, through the hooks that any plugin uses."""

from tfdist.hookspecs import hookimpl
from tfdist.specs import (
    Capabilities,
    CommandSpec,
    CrossDeviceOpsSpec,
    FailureHandlerSpec,
    InputSpec,
    StrategySpec,
)


@hookimpl
def tfdist_strategies() -> list[StrategySpec]:
    """Offer `one_device`."""
    return [
        StrategySpec(
            name="one_device",
            target="tfdist.strategies.one_device:OneDeviceStrategy",
            summary="one device, the same code path as with many; for debugging",
            aliases=("onedevice",),
            capabilities=Capabilities(
                devices=("CPU", "GPU"),
                collectives=(
                    "reduce",
                    "batch_reduce",
                    "broadcast",
                    "gather",
                    "all_reduce",
                    "all_gather",
                ),
                dtypes=("floating", "integer", "bool", "complex", "string"),
            ),
        )
    ]


@hookimpl
def tfdist_cross_device_ops() -> list[CrossDeviceOpsSpec]:
    """Offer `reduction_to_one_device`."""
    return [
        CrossDeviceOpsSpec(
            name="reduction_to_one_device",
            target="tfdist.cross_device.reduction_to_one_device:ReductionToOneDevice",
            summary="copies all values to one device, adds them there, copies the sum back",
            capabilities=Capabilities(
                devices=("CPU", "GPU"),
                collectives=("reduce", "batch_reduce", "broadcast", "gather"),
            ),
        )
    ]


@hookimpl
def tfdist_inputs() -> list[InputSpec]:
    """Offer `split`."""
    return [
        InputSpec(
            name="split",
            target="tfdist.input:distribute_dataset",
            summary="splits each global batch over the replicas of this process",
        )
    ]


@hookimpl
def tfdist_commands() -> list[CommandSpec]:
    """Offer the commands that come with the core."""
    return [
        CommandSpec(
            name="plugins",
            target="tfdist.cli.plugins:list_plugins",
            summary="List the installed plugins, loaded or not.",
        ),
        CommandSpec(
            name="strategies",
            target="tfdist.cli.strategies:list_strategies",
            summary="List what can be chosen by name.",
        ),
        CommandSpec(
            name="devices",
            target="tfdist.cli.devices:devices",
            summary="List the devices that TensorFlow sees.",
        ),
        CommandSpec(
            name="doctor",
            target="tfdist.cli.doctor:doctor",
            summary="Say what is installed, and what would not work here.",
        ),
        CommandSpec(
            name="explain",
            target="tfdist.cli.explain:explain",
            summary="Say what a choice would run where.",
        ),
    ]


@hookimpl
def tfdist_failure_handlers() -> list[FailureHandlerSpec]:
    """Offer none: one process has no peer to lose."""
    return []
