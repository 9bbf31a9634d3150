"""What docs/input.md shows is what happens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import tensorflow as tf

from tfdist.input import distribute_dataset

DOCUMENT = Path(__file__).parents[3] / "docs" / "input.md"


def test_the_plan_is_printed_as_shown(strategy: Callable[[int], Any]) -> None:
    plan = distribute_dataset(tf.data.Dataset.range(13).batch(7), strategy(2)).plan()
    assert f"```text\n{plan}\n```" in DOCUMENT.read_text()


def test_every_option_is_described() -> None:
    text = DOCUMENT.read_text()
    missing = [field for field in tf.distribute.InputOptions._fields if f"`{field}`" not in text]
    assert missing == []
