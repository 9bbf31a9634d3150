"""Datasets distributed over replicas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import tensorflow as tf

from tfdist.errors import ContextError, DatasetError
from tfdist.input.iterator import DistributedIterator, DistributedIteratorSpec, refuse_enumerate
from tfdist.input.plan import ShardingPlan
from tfdist.input.specs import InputSpec
from tfdist.tf_internals import datasets


@attrs.frozen(eq=False)
class Recipe:
    """How a distributed dataset came about, to explain it and to make it again from other sources.

    Args:
        sources: The datasets of the user.
        make: Builds a distributed dataset from such datasets.
        plan: Says what is done with them, given the number of steps.
    """

    sources: tuple[tf.data.Dataset, ...]
    make: Callable[[tuple[tf.data.Dataset, ...]], DistributedDataset]
    plan: Callable[[int], ShardingPlan]


class DistributedDataset(
    tf.__internal__.CompositeTensor,
    tf.distribute.DistributedDataset,
):
    """A dataset whose elements hold a share for each replica.

    Iterate over it, eagerly or in a ``tf.function``; look at ``element_spec``; print ``plan()``.
    """

    def __init__(
        self,
        spec: DistributedDatasetSpec,
        sources: Sequence[tf.data.Dataset],
        recipe: Recipe | None = None,
    ) -> None:
        self._spec = spec
        self._datasets = tuple(sources)
        self._recipe = recipe

    @property
    def element_spec(self) -> Any:
        """The type of an element: ``PerReplicaSpec`` leaves, or plain ones on one replica."""
        return self._spec.element_spec

    @property
    def cardinality(self) -> int:
        """How many steps there are; ``tf.data``'s constants where infinite or unknown."""
        return self._spec.length

    def __iter__(self) -> DistributedIterator:
        """Starts from the beginning.

        Raises:
            ContextError: Called while a graph of TensorFlow 1 is built.
        """
        if not (tf.executing_eagerly() or tf.inside_function()):
            raise ContextError(
                "Cannot iterate over a distributed dataset here. Eager execution is off and this "
                "is no tf.function, and an iterator needs one of them. "
                "Iterate eagerly or within a tf.function."
            )
        spec = self._spec
        return DistributedIterator(
            DistributedIteratorSpec(spec._reader, spec.element_spec, spec._strategy, spec.length),
            spec._reader.make_iterators(self._datasets),
        )

    def reduce(self, initial_state: Any, reduce_func: Callable[[Any, Any], Any]) -> Any:
        """Folds ``reduce_func(state, element)`` over all elements.

        Args:
            initial_state: A structure of tensors.
            reduce_func: Gives the next state, of the same structure.

        Returns:
            The last state.
        """
        iterator = iter(self)

        def body(optional: Any, state: Any) -> tuple[Any, Any]:
            state = reduce_func(state, optional.get_value())
            return iterator.get_next_as_optional(), state

        _, state = tf.while_loop(
            lambda optional, _: optional.has_value(),
            body,
            (iterator.get_next_as_optional(), initial_state),
            parallel_iterations=1,
        )
        return state

    def plan(self) -> ShardingPlan:
        """What is read by which pipeline and how it is split; print it to read it.

        Raises:
            ContextError: Called in a ``tf.function``.
        """
        if not tf.executing_eagerly():
            raise ContextError(
                "Cannot tell the sharding plan in a tf.function. It is made from the options of "
                "the dataset, which have no value while a graph is built. Call plan() outside."
            )
        return self._known_recipe().plan(self.cardinality)

    def auto_shard(self, num_shards: int, index: int) -> DistributedDataset:
        """The same input, reading every ``num_shards``-th element from ``index`` on.

        Args:
            num_shards: How many shards there are.
            index: Which one to read.
        """
        recipe = self._known_recipe()
        return recipe.make(tuple(source.shard(num_shards, index) for source in recipe.sources))

    @property
    def _type_spec(self) -> DistributedDatasetSpec:
        return self._spec

    @property
    def _input_workers(self) -> Any:
        return self._spec._input_workers

    @property
    def _element_spec(self) -> Any:
        return self._spec.element_spec

    def _known_recipe(self) -> Recipe:
        if self._recipe is None:
            raise ContextError(
                "Cannot tell how this dataset is distributed. It came into a tf.function as an "
                "argument, and its source stayed outside. Call this on the dataset that you passed."
            )
        return self._recipe


class DistributedDatasetSpec(InputSpec):
    """The type of a ``DistributedDataset``."""

    __slots__ = ()

    @property
    def value_type(self) -> type[DistributedDataset]:
        """The class of the values."""
        return DistributedDataset

    @property
    def length(self) -> int:
        """How many steps there are, as far as it is known."""
        return int(self._details)

    @property
    def _component_specs(self) -> tuple[Any, ...]:
        return self._reader.dataset_specs(self._element_spec)

    def _to_components(self, value: DistributedDataset) -> tuple[Any, ...]:
        return value._datasets

    def _from_components(self, components: Sequence[Any]) -> DistributedDataset:
        return DistributedDataset(self, components)


def check_dataset(value: Any, where: str) -> None:
    """Raises unless ``value`` is a ``tf.data.Dataset``.

    Args:
        value: What was given.
        where: What was going to be done with it, for the message.
    """
    if isinstance(value, tf.data.Dataset):
        return
    if isinstance(value, tf.distribute.DistributedDataset):
        seen, hint = "is distributed already", "Iterate over it as it is."
    else:
        seen = "is no tf.data.Dataset"
        hint = (
            "Make one with tf.data.Dataset.from_tensor_slices(arrays).batch(global_batch_size), or "
            "from_generator(...) for a Python generator."
        )
    raise DatasetError(
        f"Cannot {where}. A {type(value).__module__}.{type(value).__qualname__} was given, which "
        f"{seen}, and a tf.data.Dataset was expected. {hint}"
    )


datasets.register_enumerate(DistributedDataset, refuse_enumerate)
