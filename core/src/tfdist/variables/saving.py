"""Checkpoints and SavedModels: a variable is stored as the plain variable it stands for."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from tfdist.tf_internals import saving, variables


class SavedLikeAVariable:
    """Storing and restoring, for a variable with ``_values``, ``_primary`` and ``_read``."""

    _values: tuple[tf.Variable, ...]

    def _stored_value(self) -> tf.Tensor:
        """What goes into a checkpoint."""
        with tf.device(self._primary.device), self._in_strategy():  # type: ignore[attr-defined]
            return tf.identity(self._read())  # type: ignore[attr-defined]

    def _shares(self, value: tf.Tensor) -> list[tf.Tensor]:
        """What each component gets of a value for the whole variable."""
        return [value] * len(self._values)

    def _serialize_to_tensors(self) -> dict[str, Any]:
        primary = self._values[0]

        def read() -> tf.Tensor | None:
            if tf.executing_eagerly() and not self.is_initialized():  # type: ignore[attr-defined]
                return None
            return self._stored_value()

        value = saving.TensorCallable(read, dtype=primary.dtype, device=primary.device)
        return {saving.VARIABLE_VALUE_KEY: value}

    def _restore_from_tensors(self, restored: dict[str, tf.Tensor]) -> Any:
        shares = self._shares(restored[saving.VARIABLE_VALUE_KEY])
        assigned = []
        for component, share in zip(self._values, shares, strict=True):
            with tf.device(component.device):
                assigned.append(component.assign(tf.identity(share), read_value=False))
        return tf.group(*assigned)

    def _copy_trackable_to_cpu(self, object_map: Any) -> None:
        with self._in_strategy():  # type: ignore[attr-defined]
            if self not in object_map:
                with tf.device("CPU:0"), tf.init_scope():
                    object_map[self] = _host_copy(self)
            object_map[self].assign(self._stored_value())

    def _write_object_proto(self, proto: Any, options: Any) -> None:
        saving.write_variable_proto(self, proto, options)
        if saving.expands_components(options):
            for component in self._values:
                entry = proto.variable.experimental_distributed_variable_components.add()
                entry.name, entry.device = component.name.split(":")[0], component.device

    def _export_to_saved_model_graph(
        self, object_map: Any = None, tensor_map: Any = None, options: Any = None, **kwargs: Any
    ) -> list[Any]:
        primary = self._values[0]
        resources = primary._export_to_saved_model_graph(
            object_map=object_map, tensor_map=tensor_map, options=options, **kwargs
        )
        for component in self._values[1:]:
            if saving.expands_components(options):
                resources += component._export_to_saved_model_graph(
                    object_map=object_map, tensor_map=tensor_map, options=options, **kwargs
                )
            else:
                object_map[component] = object_map[primary]
                tensor_map[component.handle] = tensor_map[primary.handle]
                resources.append(component.handle)
        object_map[self] = object_map[primary]
        tensor_map[self] = tensor_map[primary.handle]
        return [*resources, self]

    def __tf_experimental_restore_capture__(self, concrete_function: Any, capture: Any) -> Any:
        concrete_function.graph.replace_capture(self, capture)
        variables.record_operation(
            "captured_value",
            [capture],
            [self],
            backward_function=lambda gradient: [gradient],
            forward_function=lambda value: [value],
        )
        return self


def _host_copy(variable: Any) -> tf.Variable:
    return saving.UninitializedVariable(
        trainable=variable.trainable,
        shape=variable.shape,
        dtype=variable.dtype,
        name=variable._shared_name,
    )
