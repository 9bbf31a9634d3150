"""From what a user asks for to cross-device ops."""

from __future__ import annotations

import logging
from typing import Any

import pytest
import tensorflow as tf

from tfdist import selection
from tfdist.cross_device import (
    CrossDeviceOps,
    ReductionToOneDevice,
    choose,
    devices_of,
    resolve_cross_device_ops,
)
from tfdist.errors import OptionError, UnavailableError, UnknownNameError
from tfdist.tf_internals import kernels
from tfdist.values import Mirrored, PerReplica

from .helpers import on_devices

GPUS = tuple(f"/job:localhost/replica:0/task:0/device:GPU:{i}" for i in range(2))


class Doubling(CrossDeviceOps):
    """A vendor's ops that override the least they can, and do something visible."""

    def reduce_implementation(
        self, reduce_op: Any, per_replica_value: Any, destinations: Any, options: Any
    ) -> Any:
        return self.broadcast(2.0 * tf.add_n(list(per_replica_value.values)), destinations)


class OnTensorFlowsBase(tf.distribute.CrossDeviceOps):
    """What a user of tf.distribute may have written."""

    def reduce_implementation(
        self, reduce_op: Any, per_replica_value: Any, destinations: Any, options: Any
    ) -> Any:
        total = tf.add_n(list(per_replica_value.values))
        return self.broadcast(total + 100.0, destinations)


def fake_gpus(monkeypatch: pytest.MonkeyPatch, physical: int = 2, nccl: bool = True) -> None:
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda _: [None] * physical)
    monkeypatch.setattr(tf.config, "list_logical_devices", lambda *_: [None] * 2)
    monkeypatch.setattr(kernels, "has_kernel", lambda *_: nccl)


def names_asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Records the names that are looked up, and gives the built-in for each."""
    asked: list[str] = []

    def look_up(name: str) -> CrossDeviceOps:
        asked.append(name)
        return ReductionToOneDevice()

    monkeypatch.setattr(selection, "cross_device_ops", look_up)
    return asked


@pytest.mark.parametrize("asked", [None, "auto"])
def test_auto_on_cpus_logs_its_choice(
    cpu_devices: Any, caplog: pytest.LogCaptureFixture, asked: Any
) -> None:
    with caplog.at_level(logging.INFO, "tfdist.cross_device"):
        ops = resolve_cross_device_ops(asked, devices_of(cpu_devices(2)))
    assert type(ops) is ReductionToOneDevice
    (record,) = caplog.records
    assert "auto chose reduction_to_one_device" in record.getMessage()


def test_auto_takes_nccl_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = names_asked(monkeypatch)
    fake_gpus(monkeypatch)
    resolve_cross_device_ops(None, GPUS)
    assert asked == ["nccl"]


@pytest.mark.parametrize("lack", [{"nccl": False}, {"physical": 1}])
def test_auto_takes_hierarchical_copy_on_other_accelerators(
    monkeypatch: pytest.MonkeyPatch, lack: Any
) -> None:
    asked = names_asked(monkeypatch)
    fake_gpus(monkeypatch, **lack)
    resolve_cross_device_ops(None, GPUS)
    assert asked == ["hierarchical_copy"]


def test_auto_needs_several_devices_of_accelerators(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = names_asked(monkeypatch)
    fake_gpus(monkeypatch)
    for devices in (GPUS[:1], (GPUS[0], "/job:localhost/replica:0/task:0/device:CPU:0")):
        assert type(resolve_cross_device_ops(None, devices)) is ReductionToOneDevice
    assert asked == []


def test_auto_without_the_plugin(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def missing(name: str) -> Any:
        raise UnknownNameError(name)

    monkeypatch.setattr(selection, "cross_device_ops", missing)
    fake_gpus(monkeypatch)
    with caplog.at_level(logging.INFO, "tfdist.cross_device"):
        assert type(resolve_cross_device_ops(None, GPUS)) is ReductionToOneDevice
    assert "no installed plugin offers it" in caplog.text


def test_by_name_with_options(cpu_devices: Any) -> None:
    names = devices_of(cpu_devices(2))
    ops = resolve_cross_device_ops("reduction_to_one_device?reduce_to_device=CPU:1", names)
    assert isinstance(ops, ReductionToOneDevice)
    assert ops.reduce_to_device == names[1]


def test_an_unknown_name(cpu_devices: Any) -> None:
    with pytest.raises(UnknownNameError, match="reduction_to_one_devise"):
        resolve_cross_device_ops("reduction_to_one_devise", devices_of(cpu_devices(1)))


def test_a_vendors_object(cpu_devices: Any) -> None:
    names, ops = cpu_devices(2), Doubling()
    assert resolve_cross_device_ops(ops, devices_of(names)) is ops
    value = on_devices([1.0, 2.0], names)
    assert ops.reduce("SUM", value, names).numpy() == 6.0
    assert [r.numpy() for r in ops.batch_reduce("SUM", [(value, names)] * 2)] == [6.0, 6.0]
    assert ops.gather(on_devices([[1.0], [2.0]], names), names[0], 0).numpy().tolist() == [1, 2]


def test_the_devices_are_shown_to_it() -> None:
    class Picky(Doubling):
        def check_devices(self, devices: Any) -> None:
            raise UnavailableError(f"no: {devices}")

    with pytest.raises(UnavailableError, match="GPU:0"):
        resolve_cross_device_ops(Picky(), GPUS)


def test_abstract_without_a_reduction() -> None:
    with pytest.raises(TypeError, match="reduce_implementation"):
        CrossDeviceOps()


@pytest.mark.parametrize("in_function", [False, True])
def test_a_users_subclass_of_tensorflows_base(cpu_devices: Any, in_function: bool) -> None:
    names = cpu_devices(2)
    ops = resolve_cross_device_ops(OnTensorFlowsBase(), devices_of(names))

    def step() -> Any:
        value = on_devices([1.0, 2.0], names)
        results = [
            ops.reduce("SUM", value, value),
            ops.reduce("SUM", value, names),
            *ops.batch_reduce("SUM", [(value, names)]),
        ]
        assert all(type(result) is Mirrored for result in results)
        return [result.values for result in results] + [[ops.reduce("SUM", value, names[0])]]

    for copies in tf.function(step)() if in_function else step():
        assert [copy.numpy() for copy in copies] == [103.0] * len(copies)
    assert type(ops.broadcast(1.0, names)) is Mirrored


def test_a_users_overridden_public_methods(cpu_devices: Any) -> None:
    class Public(tf.distribute.CrossDeviceOps):
        def reduce(self, reduce_op: Any, value: Any, destinations: Any, options: Any = None) -> Any:
            return value.values[0] * 10.0

        def batch_reduce(self, reduce_op: Any, pairs: Any, options: Any = None) -> Any:
            return [value.values[1] * 10.0 for value, _ in pairs]

        def broadcast(self, tensor: Any, destinations: Any) -> Any:
            return tensor * 5.0

    names = cpu_devices(2)
    ops = resolve_cross_device_ops(Public(), devices_of(names))
    value = PerReplica([tf.constant(1.0), tf.constant(2.0)])
    assert ops.reduce("SUM", value, names).numpy() == 10.0
    assert ops.batch_reduce("SUM", [(value, names)])[0].numpy() == 20.0
    assert ops.broadcast(1.0, names) == 5.0


@pytest.mark.parametrize("name", sorted(choose._EQUIVALENTS))
def test_tensorflows_own_are_refused(cpu_devices: Any, name: str) -> None:
    theirs = getattr(tf.distribute, name)()
    with pytest.raises(OptionError, match=f"cross_device_ops='{choose._EQUIVALENTS[name]}'"):
        resolve_cross_device_ops(theirs, devices_of(cpu_devices(1)))


@pytest.mark.parametrize("bad", [3, ReductionToOneDevice, ["nccl"]])
def test_something_else_is_refused(cpu_devices: Any, bad: Any) -> None:
    with pytest.raises(OptionError, match="cross_device_ops"):
        resolve_cross_device_ops(bad, devices_of(cpu_devices(1)))


def test_a_base_that_cannot_reduce(cpu_devices: Any) -> None:
    with pytest.raises(OptionError, match="reduce_implementation"):
        resolve_cross_device_ops(tf.distribute.CrossDeviceOps(), devices_of(cpu_devices(1)))


def test_a_name_of_another_kind(monkeypatch: pytest.MonkeyPatch, cpu_devices: Any) -> None:
    monkeypatch.setattr(selection, "cross_device_ops", lambda _: object())
    with pytest.raises(OptionError, match="kind 'graph'"):
        resolve_cross_device_ops("ring", devices_of(cpu_devices(1)))
