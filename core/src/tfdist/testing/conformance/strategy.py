"""The whole suite for a strategy."""

from __future__ import annotations

from tfdist.testing.conformance.collectives import CollectiveChecks, GatherChecks, ReduceChecks
from tfdist.testing.conformance.input_and_training import (
    InputChecks,
    SavingChecks,
    TrainingChecks,
)
from tfdist.testing.conformance.scope_and_run import RunChecks, ScopeChecks
from tfdist.testing.conformance.subjects import StrategySubject
from tfdist.testing.conformance.variables import ExtendedChecks, VariableChecks


class StrategyConformance(
    ScopeChecks,
    RunChecks,
    ReduceChecks,
    GatherChecks,
    CollectiveChecks,
    VariableChecks,
    ExtendedChecks,
    InputChecks,
    TrainingChecks,
    SavingChecks,
    StrategySubject,
):
    """What a strategy must do. Inherit it, set `name`, and override fixtures where needed."""
