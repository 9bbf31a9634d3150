"""The sharding plan, as people read it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf

from tfdist.errors import ContextError
from tfdist.input import distribute_dataset, distribute_from_function

Strategies = Callable[[int], Any]
Dataset = tf.data.Dataset
HOST = "/job:localhost/replica:0/task:0/device:CPU:0"
SECOND = "/job:localhost/replica:0/task:0/device:CPU:1"


def test_text(strategy: Strategies) -> None:
    plan = distribute_dataset(Dataset.range(13).batch(7).prefetch(1), strategy(2)).plan()
    assert str(plan) == (
        f"input pipeline 0 of 1 on {HOST}\n"
        "auto-shard policy: AUTO\n"
        "reads: all elements; with one pipeline, no policy leaves any out\n"
        "steps: 2\n"
        "split: each global batch along its first dimension, equal shares in order until rows run "
        "out\n"
        f"  replica 0: {HOST}, 4 of 7 rows\n"
        f"  replica 1: {SECOND}, 3 of 7 rows"
    )


def test_policy(strategy: Strategies) -> None:
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    dataset = Dataset.range(4).batch(2).with_options(options).repeat()
    plan = distribute_dataset(dataset, strategy(2)).plan()
    assert plan.policy == "OFF"
    assert plan.steps == "without end"


def record_files(folder: Path, count: int) -> list[str]:
    names = [str(folder / f"{i}.records") for i in range(count)]
    for name in names:
        with tf.io.TFRecordWriter(name) as writer:
            writer.write(b"x")
    return names


@pytest.mark.parametrize(
    "read",
    [
        lambda names: tf.data.TFRecordDataset(names),
        lambda names: Dataset.from_tensor_slices(names).interleave(tf.data.TFRecordDataset),
        lambda names: tf.data.TFRecordDataset(Dataset.list_files(names, shuffle=False)),
    ],
)
def test_files(strategy: Strategies, tmp_path: Path, read: Any) -> None:
    names = record_files(tmp_path, 2)
    dataset = read(names).map(tf.strings.length).batch(2)
    plan = distribute_dataset(dataset, strategy(2)).plan()
    assert list(plan.files) == names
    assert plan.steps == "not known before they are read"
    assert f"  file: {names[1]}" in str(plan)


def test_many_files_are_counted(strategy: Strategies, tmp_path: Path) -> None:
    dataset = tf.data.TFRecordDataset(record_files(tmp_path, 10)).batch(2)
    assert "and 2 files more" in str(distribute_dataset(dataset, strategy(2)).plan())


def test_functions(strategy: Strategies) -> None:
    dealt = distribute_from_function(lambda _: Dataset.range(4).batch(2), strategy(2)).plan()
    assert "in turn" in dealt.splitting
    assert dealt.share_sizes == ()
    options = tf.distribute.InputOptions(
        experimental_replication_mode=tf.distribute.InputReplicationMode.PER_REPLICA
    )
    own = distribute_from_function(lambda _: Dataset.range(4).batch(2), strategy(2), options)
    assert own.plan().reads == "2 datasets, one a replica, all elements of each"


def test_one_replica(strategy: Strategies) -> None:
    plan = distribute_dataset(Dataset.range(4), strategy(1)).plan()
    assert plan.splitting.startswith("none")


def test_not_in_a_graph(strategy: Strategies) -> None:
    distributed = distribute_dataset(Dataset.range(4).batch(2), strategy(2))
    with pytest.raises(ContextError, match="outside"):
        tf.function(lambda dataset: dataset.plan())(distributed)


def test_shards_of_distributed_input(strategy: Strategies) -> None:
    fake = strategy(2)
    dealt = distribute_from_function(lambda _: Dataset.range(10).batch(1), fake)
    shards = [
        [tf.concat(x.values, 0).numpy().tolist() for x in dealt.auto_shard(2, i)] for i in (0, 1)
    ]
    assert shards == [[[0, 2], [4, 6], [8]], [[1, 3], [5, 7], [9]]]
