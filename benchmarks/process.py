"""Rounds of processes in which the contestants take turns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
TIMEOUT_S = 600

Quantities = dict[str, float]


def rounds(
    module: str, contestants: Sequence[str], arguments: Sequence[object], round_count: int
) -> Iterator[dict[str, Quantities]]:
    """Runs ``module`` once a round for each contestant; yields what each round measured.

    Args:
        module: Run as ``python -m module CONTESTANT *arguments``; its last line is JSON.
        contestants: Who takes part. Every second round goes through them backwards.
        arguments: Further arguments, the same for all.
        round_count: How many rounds.
    """
    for index in range(round_count):
        order = list(contestants) if index % 2 == 0 else list(reversed(contestants))
        yield {name: _measure(module, name, arguments) for name in order}


def _measure(module: str, contestant: str, arguments: Sequence[object]) -> Quantities:
    done = subprocess.run(
        [sys.executable, "-m", module, contestant, *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"The measurement of {contestant} failed.\n{done.stderr}")
    found: Quantities = json.loads(done.stdout.splitlines()[-1])
    return found
