"""Specs and Optionals of a step's element, and of one replica's part in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from tfdist.input.empty import relaxed
from tfdist.tf_internals import datasets
from tfdist.values import PerReplicaSpec


def share_spec(element_spec: Any, replica_id: int) -> Any:
    """The element spec of one replica."""
    return tf.nest.map_structure(
        lambda s: s.value_specs[replica_id] if isinstance(s, PerReplicaSpec) else s, element_spec
    )


def spec_for_replicas(specs: Sequence[Any]) -> Any:
    """The element spec whose shares have ``specs``, one a replica."""
    if len(specs) == 1:
        return specs[0]
    return tf.nest.map_structure(lambda *leaf: PerReplicaSpec(*leaf), *specs)


def relaxed_element_spec(element_spec: Any) -> Any:
    """The element spec with the first dimension unknown on each replica."""
    return tf.nest.map_structure(
        lambda s: (
            PerReplicaSpec(*(relaxed(v) for v in s.value_specs))
            if isinstance(s, PerReplicaSpec)
            else relaxed(s)
        ),
        element_spec,
    )


def optional_of(element: Any, element_spec: Any) -> Any:
    """An Optional with a value, read with ``element_spec``, which may be wider than its own."""
    optional = tf.experimental.Optional.from_value(element)
    return datasets.optional_from_variant(datasets.optional_to_variant(optional), element_spec)
