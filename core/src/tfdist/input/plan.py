"""The sharding plan: who reads what, and how a batch is split."""

from __future__ import annotations

import attrs
import tensorflow as tf

from tfdist.input.shares import share_sizes
from tfdist.input.workers import InputWorkers
from tfdist.tf_internals import datasets

_FILES_SHOWN = 8


@attrs.frozen
class ShardingPlan:
    """How input is spread; ``str(plan)`` is for people.

    Args:
        policy: The auto-shard policy of the dataset's options.
        pipeline: Which input pipeline this is, of how many.
        reads: What this pipeline reads.
        files: Names of the files that the dataset reads, as far as they are known.
        steps: How many steps there are, in words.
        splitting: How an element is spread over the replicas.
        devices: One device a replica.
        batch_size: Rows of a full batch, if tf.data can tell.
        share_sizes: Rows of such a batch for each replica.
    """

    policy: str
    pipeline: str
    reads: str
    files: tuple[str, ...]
    steps: str
    splitting: str
    devices: tuple[str, ...]
    batch_size: int | None = None
    share_sizes: tuple[int, ...] = ()

    def __str__(self) -> str:
        lines = [
            f"input pipeline {self.pipeline}",
            f"auto-shard policy: {self.policy}",
            f"reads: {self.reads}",
            *self._file_lines(),
            f"steps: {self.steps}",
            f"split: {self.splitting}",
        ]
        for i, device in enumerate(self.devices):
            rows = f", {self.share_sizes[i]} of {self.batch_size} rows" if self.share_sizes else ""
            lines.append(f"  replica {i}: {device}{rows}")
        return "\n".join(lines)

    def _file_lines(self) -> list[str]:
        shown = [f"  file: {name}" for name in self.files[:_FILES_SHOWN]]
        hidden = len(self.files) - len(shown)
        return [*shown, f"  and {hidden} files more"] if hidden else shown


def plan_of(
    sources: tuple[tf.data.Dataset, ...],
    workers: InputWorkers,
    splitting: str,
    length: int,
    *,
    split: bool,
) -> ShardingPlan:
    """The plan of one process that reads ``sources`` itself.

    Args:
        sources: The user's datasets.
        workers: Which devices they feed.
        splitting: How elements are spread, in words.
        length: How many steps there are, as tf.data counts them.
        split: Whether an element is a global batch that is split.
    """
    policy = sources[0].options().experimental_distribute.auto_shard_policy
    batch_size = _batch_size(sources[0]) if split else None
    sizes = () if batch_size is None else tuple(share_sizes(batch_size, workers.replica_count))
    return ShardingPlan(
        policy=policy.name,
        pipeline=f"{workers.input_pipeline_id} of {workers.num_input_pipelines} on {workers.host}",
        reads=_reads(workers, len(sources)),
        files=tuple(name for source in sources for name in _files(source)),
        steps=_steps(length),
        splitting=splitting,
        devices=workers.devices,
        batch_size=batch_size,
        share_sizes=sizes,
    )


def _reads(workers: InputWorkers, source_count: int) -> str:
    if source_count > 1:
        return f"{source_count} datasets, one a replica, all elements of each"
    alone = (
        "; with one pipeline, no policy leaves any out" if workers.num_input_pipelines == 1 else ""
    )
    return f"all elements{alone}"


def _steps(length: int) -> str:
    if length == tf.data.INFINITE_CARDINALITY:
        return "without end"
    return "not known before they are read" if length < 0 else str(length)


def _batch_size(dataset: tf.data.Dataset) -> int | None:
    """Rows of a full batch as tf.data finds them in the pipeline; None where it cannot."""
    variant = tf.data.experimental.to_variant(dataset)
    size = int(tf.raw_ops.ComputeBatchSize(input_dataset=variant))
    return size if size >= 0 else None


def _files(dataset: tf.data.Dataset) -> list[str]:
    """File names found upstream of a dataset, where they are constants."""
    names = datasets.constant_filenames(dataset)
    for source in datasets.input_datasets(dataset):
        names.extend(name for name in _files(source) if name not in names)
    return names
