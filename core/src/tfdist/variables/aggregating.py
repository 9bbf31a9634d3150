"""A variable that lives in one place while several replicas use it."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from tfdist.errors import OptionError
from tfdist.tf_internals import contexts
from tfdist.variables.delegate import DelegatingVariable
from tfdist.variables.distributed import aggregate


class AggregatingVariable(DelegatingVariable):
    """One component; writes from replicas are aggregated and happen once."""

    def _get(self) -> tf.Variable:
        return self._primary

    def _read(self) -> tf.Tensor:
        return self._primary.value()

    def sparse_read(self, indices: Any, name: str | None = None) -> tf.Tensor:
        """Rows of the value, without reading the rest."""
        return self._primary.sparse_read(indices, name)

    def gather_nd(self, indices: Any, name: str | None = None) -> tf.Tensor:
        """Slices of the value, without reading the rest."""
        return self._primary.gather_nd(indices, name)

    def _write(self, method: str, value: Any, **kwargs: Any) -> Any:
        with self._in_strategy():
            if tf.distribute.in_cross_replica_context():
                if contexts.get_update_replica_id() is not None:
                    return getattr(self._primary, method)(value, **kwargs)
                return self._write_once(self._distribute_strategy, value, method, kwargs)
            if self._aggregation == tf.VariableAggregation.NONE:
                raise OptionError(
                    "You must specify an aggregation method to update a variable in Replica "
                    f"Context: {self.name!r} lives in one place for all replicas. Pass aggregation="
                    "SUM, MEAN or ONLY_FIRST_REPLICA to tf.Variable, or update it in "
                    "cross-replica context."
                )
            value = aggregate(self, value)
            return tf.distribute.get_replica_context().merge_call(
                self._write_once, args=(value, method, kwargs)
            )

    def _write_once(self, strategy: Any, value: Any, method: str, kwargs: dict[str, Any]) -> Any:
        return strategy.extended.update(
            self, lambda v, x: getattr(v, method)(x, **kwargs), args=(value,)
        )
