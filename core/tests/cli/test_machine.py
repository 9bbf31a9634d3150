"""`tfdist devices`, `tfdist doctor` and `tfdist explain`: what they say of this machine."""

import re

import pytest
from core.tests.cli.conftest import Tfdist
from core.tests.conftest import PluginSite

from tfdist.cli import examination
from tfdist.errors import TensorFlowMissingError

SPECS = """
import tfdist
from tfdist import Capabilities, CrossDeviceOpsSpec, StrategySpec

@tfdist.hookimpl
def tfdist_strategies():
    return [
        StrategySpec(name="ring", target="ring_targets:Ring"),
        StrategySpec(name="silent", target="ring_targets:Silent"),
        StrategySpec(name="strict", target="ring_targets:Strict"),
        StrategySpec(name="tpu_only", target="ring_targets:Silent",
                     capabilities=Capabilities(devices="TPU", hardware="TPU")),
    ]

@tfdist.hookimpl
def tfdist_cross_device_ops():
    return [CrossDeviceOpsSpec(name="fast", target="ring_targets:Silent",
                               capabilities=Capabilities(devices="GPU", hardware="GPU"))]
"""

TARGETS = """
from tfdist.errors import DeviceError

class Silent:
    def __init__(self, width: int = 1):
        raise AssertionError("nothing is made by explaining")

class Strict(Silent):
    @classmethod
    def describe(cls, **options):
        raise DeviceError("Device 'GPU:7' cannot be used. There is no GPU. Leave it out.")

class Ring(Silent):
    def __init__(self, devices: list[str] = (), cross_device_ops: str = "auto"):
        super().__init__()

    @classmethod
    def describe(cls, devices=("CPU:0",), cross_device_ops="auto"):
        return {
            "devices": [f"/device:{device}" for device in devices],
            "replicas": len(devices),
            "parameter_devices": ("/device:CPU:0",),
            "cross_device_ops": cross_device_ops,
        }
"""


@pytest.fixture
def ring(plugin_site: PluginSite) -> PluginSite:
    plugin_site.add("ring", SPECS, more={"ring_targets": TARGETS})
    return plugin_site


def test_devices(tfdist_command: Tfdist) -> None:
    shown = tfdist_command("devices")
    assert shown.code == 0
    assert re.search(r"^physical +/physical_device:CPU:0 +CPU$", shown.out, re.MULTILINE) or (
        "/physical_device:CPU:0" in shown.out
    )
    as_json = tfdist_command("devices", "--json").json
    assert {"name": "/physical_device:CPU:0", "type": "CPU"} in as_json["physical"]
    assert {"name": "/device:CPU:0", "type": "CPU"} in as_json["logical"]


def test_explain(ring: PluginSite, tfdist_command: Tfdist) -> None:
    shown = tfdist_command("explain", "ring?devices=CPU:0,CPU:1")
    assert (shown.code, shown.err) == (0, "")
    assert shown.lines == [
        "strategy           ring",
        "distribution       ring 1.0",
        "options            devices=CPU:0, CPU:1",
        "devices            /device:CPU:0, /device:CPU:1",
        "replicas           2",
        "parameter devices  /device:CPU:0",
        "cross device ops   auto",
        "input              each global batch is split over 2 replicas in order, in shares as even",
        "                   as possible; a short last batch may leave shares uneven or empty",
    ]


def test_explain_as_json(
    ring: PluginSite, tfdist_command: Tfdist, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TFDIST_STRATEGY", "ring")
    assert tfdist_command("explain", "--json").json == {
        "strategy": "ring",
        "distribution": "ring 1.0",
        "options": {},
        "devices": ["/device:CPU:0"],
        "replicas": 1,
        "parameter_devices": ["/device:CPU:0"],
        "cross_device_ops": "auto",
        "input": "each global batch goes to the one replica whole",
    }


def test_explain_what_cannot_describe_itself(ring: PluginSite, tfdist_command: Tfdist) -> None:
    shown = tfdist_command("explain", "silent?width=3")
    assert (shown.code, shown.lines) == (
        0,
        ["strategy      silent", "distribution  ring 1.0", "options       width=3"],
    )


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("tpu_only", "'tpu_only' (ring 1.0) cannot be used on this machine. It needs a TPU and"),
        ("ring?cross_device_ops=fast", "'fast' (ring 1.0) cannot be used on this machine."),
        ("strict", "Device 'GPU:7' cannot be used. There is no GPU. Leave it out."),
    ],
)
def test_explain_what_cannot_run_here(
    ring: PluginSite, tfdist_command: Tfdist, spec: str, why: str
) -> None:
    shown = tfdist_command("explain", spec, "--json")
    assert shown.code == 1
    assert shown.json["cannot_run_here"].startswith(why)
    assert tfdist_command("explain", spec).lines[3].startswith(f"cannot run here  {why[:7]}")


def test_explain_refuses_wrong_options(ring: PluginSite, tfdist_command: Tfdist) -> None:
    shown = tfdist_command("explain", "ring?device=CPU:0")
    assert shown.code == 1
    assert "Did you mean 'devices'?" in shown.err


def test_doctor_without_tensorflow(
    ring: PluginSite, tfdist_command: Tfdist, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> set[str]:
        raise TensorFlowMissingError("none")

    monkeypatch.setattr(examination, "device_types", missing)
    monkeypatch.setattr(examination, "installed", lambda name: None)
    shown = tfdist_command("doctor")
    assert shown.code == 1
    assert "devices  unknown, as TensorFlow is missing" in shown.lines
    assert shown.lines[-1].startswith("Problem: TensorFlow is not installed. Run `pip install")
    assert "works" not in shown.out


def test_doctor_as_json(ring: PluginSite, tfdist_command: Tfdist) -> None:
    shown = tfdist_command("doctor", "--json")
    found = shown.json
    assert found["devices"] == ["CPU"]
    assert found["versions"]["ring"] == "1.0"
    [verdict] = [each for each in found["offers"] if each["name"] == "fast"]
    assert verdict["works"] is False
    assert verdict["obstacles"] == ["needs a GPU and TensorFlow sees none (devices here: CPU)"]


def test_doctor_finds_what_cannot_be_imported(ring: PluginSite, tfdist_command: Tfdist) -> None:
    ring.offer("void", "void", target="ring_targets:Nothing")
    shown = tfdist_command("doctor")
    assert shown.code == 1
    assert "cannot be imported, see below" in shown.out
    assert "Problem: 'void' of void 1.0 cannot be used." in shown.out


def test_doctor_finds_what_is_wrong(
    ring: PluginSite, tfdist_command: Tfdist, monkeypatch: pytest.MonkeyPatch
) -> None:
    ring.add("bad", "raise OSError('too old')")
    ring.offer("star-a", "star", target="ring_targets:Silent")
    ring.offer("star-b", "star", target="ring_targets:Silent")
    monkeypatch.setenv("TFDIST_DISABLE_PLUGINS", "mirorred")
    shown = tfdist_command("doctor", "--json")
    assert shown.code == 1
    problems = "\n".join(shown.json["problems"])
    assert "The plugin bad of bad 1.0 is broken: OSError: too old" in problems
    assert "The name 'star' is claimed by star-a 1.0 and star-b 1.0." in problems
    assert "names 'mirorred', and no plugin of that name is installed." in problems


@pytest.mark.parametrize(
    ("version", "problem"),
    [
        (None, "TensorFlow is not installed. Run `pip install 'tfdist[tf-cpu]'`"),
        ("2.18.1", "TensorFlow 2.18.1 is not supported"),
        ("2.22.0", "TensorFlow 2.22.0 is not supported"),
        ("2.19.0", ""),
        ("2.21.0rc1", ""),
    ],
)
def test_doctor_on_versions_of_tensorflow(
    ring: PluginSite, monkeypatch: pytest.MonkeyPatch, version: str | None, problem: str
) -> None:
    monkeypatch.setattr(
        examination, "installed", lambda name: version if name == "tensorflow" else None
    )
    found = list(examination.tensorflow_problems())
    assert bool(found) == bool(problem)
    assert all(problem in text for text in found)
