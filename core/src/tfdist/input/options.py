"""``tf.distribute.InputOptions``, checked."""

from __future__ import annotations

import attrs
import tensorflow as tf

from tfdist.errors import OptionError

_PER_REPLICA = tf.distribute.InputReplicationMode.PER_REPLICA


@attrs.frozen
class InputSettings:
    """What the options come to.

    Args:
        fetch_to_device: Put each share on its replica's device.
        buffer_size: Steps to prepare ahead of time.
        per_replica: One dataset a replica, instead of one a pipeline.
        on_device: The datasets themselves live on the replicas' devices.
    """

    fetch_to_device: bool = True
    buffer_size: int = 1
    per_replica: bool = False
    on_device: bool = False


def settings_for_dataset(options: tf.distribute.InputOptions | None) -> InputSettings:
    """The settings for a dataset that is split.

    Raises:
        OptionError: One dataset a replica was asked for, or the buffer size is negative.
    """
    if options is not None and options.experimental_replication_mode == _PER_REPLICA:
        raise OptionError(
            "Cannot distribute one dataset with experimental_replication_mode=PER_REPLICA. That "
            "mode reads a dataset of its own for each replica, and one was given where a function "
            "was expected. Use strategy.distribute_datasets_from_function(dataset_fn, options)."
        )
    return _settings(options)


def settings_for_function(options: tf.distribute.InputOptions | None) -> InputSettings:
    """The settings for datasets from a function.

    Raises:
        OptionError: The options do not go together, or the buffer size is negative.
    """
    settings = _settings(options)
    if options is None or not options.experimental_place_dataset_on_device:
        return settings
    if not settings.per_replica:
        raise OptionError(
            "Cannot place datasets on the replicas' devices with "
            f"experimental_replication_mode={options.experimental_replication_mode}. One dataset "
            "feeds all replicas then, and it lives on the host. "
            "Set experimental_replication_mode=tf.distribute.InputReplicationMode.PER_REPLICA too."
        )
    if settings.fetch_to_device:
        raise OptionError(
            "Cannot place datasets on the replicas' devices and fetch their elements to them. "
            "experimental_place_dataset_on_device and experimental_fetch_to_device are both True, "
            "and one at most was expected. Set experimental_fetch_to_device=False."
        )
    return attrs.evolve(settings, on_device=True)


def _settings(options: tf.distribute.InputOptions | None) -> InputSettings:
    if options is None:
        return InputSettings()
    size = options.experimental_per_replica_buffer_size
    if size < 0:
        raise OptionError(
            f"Cannot buffer {size} elements a replica. experimental_per_replica_buffer_size is "
            f"{size}, and a number of 0 or more was expected. Use 0 to prepare nothing ahead."
        )
    return InputSettings(
        fetch_to_device=bool(options.experimental_fetch_to_device),
        buffer_size=size,
        per_replica=options.experimental_replication_mode == _PER_REPLICA,
    )
