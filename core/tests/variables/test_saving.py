"""Variables of strategies in checkpoints and SavedModels."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tfdist

Devices = Callable[[int], list[str]]
ON_READ = {
    "synchronization": tf.VariableSynchronization.ON_READ,
    "aggregation": tf.VariableAggregation.SUM,
}


def mirrored(cpu_devices: Devices, count: int) -> Any:
    return tfdist.strategy("mirrored", devices=cpu_devices(count))


@pytest.mark.parametrize("options", [{}, ON_READ])
@pytest.mark.parametrize("count", [2, 4])
def test_checkpoint_to_plain_and_other_counts(
    cpu_devices: Devices, tmp_path: Path, options: dict[str, Any], count: int
) -> None:
    strategy = mirrored(cpu_devices, 2)
    with strategy.scope():
        v = tf.Variable(0.0, **options)
    strategy.run(lambda: v.assign_add(3.0))
    expected = 6.0 if options else 3.0
    path = tf.train.Checkpoint(v=v).save(str(tmp_path / "c"))

    plain = tf.Variable(0.0)
    tf.train.Checkpoint(v=plain).restore(path).assert_consumed()
    assert plain.numpy() == expected

    other = mirrored(cpu_devices, count)
    with other.scope():
        w = tf.Variable(0.0, **options)
    tf.train.Checkpoint(v=w).restore(path)
    assert w.numpy() == expected
    share = expected / count if options else expected
    assert [x.numpy() for x in w.values] == [share] * count


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64, tf.uint8, tf.float32, tf.complex64])
@pytest.mark.parametrize("count", [2, 4])
def test_a_sum_that_does_not_divide_is_kept(
    cpu_devices: Devices, tmp_path: Path, dtype: tf.DType, count: int
) -> None:
    strategy = mirrored(cpu_devices, count)
    with strategy.scope():
        assigned = tf.Variable(tf.constant(0, dtype), **ON_READ)
        assigned.assign(tf.constant(7, dtype))
        restored = tf.Variable(tf.constant(0, dtype), **ON_READ)
    assert assigned.numpy() == 7
    path = tf.train.Checkpoint(v=tf.Variable(tf.constant(7, dtype))).save(str(tmp_path / "plain"))
    tf.train.Checkpoint(v=restored).restore(path).assert_consumed()
    assert restored.numpy() == 7
    assert restored.dtype == dtype


def test_a_negative_sum_that_does_not_divide_is_kept(cpu_devices: Devices) -> None:
    with mirrored(cpu_devices, 4).scope():
        v = tf.Variable(0, **ON_READ)
        v.assign(-7)
    assert v.numpy() == -7


def test_checkpoint_of_the_framework_s_own_strategy(cpu_devices: Devices, tmp_path: Path) -> None:
    theirs = tf.distribute.MirroredStrategy(cpu_devices(2))
    with theirs.scope():
        a = tf.Variable([1.0, 2.0])
    path = tf.train.Checkpoint(v=a).save(str(tmp_path / "theirs"))
    ours = mirrored(cpu_devices, 2)
    with ours.scope():
        b = tf.Variable([0.0, 0.0])
    tf.train.Checkpoint(v=b).restore(path)
    np.testing.assert_array_equal(b.numpy(), [1.0, 2.0])
    with ours.scope():
        b.assign([5.0, 6.0])
    path = tf.train.Checkpoint(v=b).save(str(tmp_path / "ours"))
    tf.train.Checkpoint(v=a).restore(path)
    np.testing.assert_array_equal(a.numpy(), [5.0, 6.0])


def test_saved_model_in_and_out_of_scope(cpu_devices: Devices, tmp_path: Path) -> None:
    strategy = mirrored(cpu_devices, 2)

    class Doubler(tf.Module):
        def __init__(self) -> None:
            self.w = tf.Variable(2.0)

        @tf.function(input_signature=[tf.TensorSpec([None])])
        def __call__(self, x: tf.Tensor) -> tf.Tensor:
            return self.w * x

    with strategy.scope():
        module = Doubler()
        module.w.assign(3.0)
    tf.saved_model.save(module, str(tmp_path / "m"))
    loaded = tf.saved_model.load(str(tmp_path / "m"))
    np.testing.assert_array_equal(loaded([1.0, 2.0]), [3.0, 6.0])
    with strategy.scope():
        inside = tf.saved_model.load(str(tmp_path / "m"))
    assert len(inside.w.values) == 2
    local = strategy.experimental_local_results(strategy.run(inside, args=(tf.constant([1.0]),)))
    assert [x.numpy().tolist() for x in local] == [[3.0], [3.0]]


def test_pickle_is_refused(cpu_devices: Devices) -> None:
    import pickle

    with mirrored(cpu_devices, 2).scope():
        v = tf.Variable(1.0)
    with pytest.raises(tfdist.errors.ContextError, match="Cannot pickle variable"):
        pickle.dumps(v)


def test_initializer_is_none_in_eager_mode(cpu_devices: Devices) -> None:
    with mirrored(cpu_devices, 2).scope():
        v = tf.Variable(1.0)
    assert v.initializer is None
    assert bool(v.is_initialized())


def test_a_function_with_updates_of_all_copies_is_refused_by_saved_model(
    cpu_devices: Devices, tmp_path: Path
) -> None:
    strategy = mirrored(cpu_devices, 2)
    module = tf.Module()
    with strategy.scope():
        module.v = tf.Variable(1.0)

    @tf.function
    def update() -> tf.Tensor:
        with strategy.scope():
            module.v.assign_add(1.0)
        return module.v.read_value()

    with pytest.raises(ValueError, match="input_signature"):
        tf.saved_model.save(module, str(tmp_path / "m"), signatures=update.get_concrete_function())
