"""What the plugin offers, and that offering it is light."""

import subprocess
import sys

import tfdist
from tfdist import plugins
from tfdist.specs import CrossDeviceOpsSpec, StrategySpec

DISTRIBUTION = "tfdist-plugin-mirrored"


def _offered(kind: type[StrategySpec] | type[CrossDeviceOpsSpec]) -> dict[str, str]:
    return {
        offer.spec.name: offer.spec.target
        for offer in plugins.current().offers(kind)
        if offer.plugin.distribution == DISTRIBUTION
    }


def test_it_is_loaded() -> None:
    [info] = [each for each in plugins.current().plugins if each.distribution == DISTRIBUTION]
    assert (info.name, info.state, info.error) == ("mirrored", "loaded", None)
    assert info.hooks == ("tfdist_strategies", "tfdist_cross_device_ops")


def test_strategies() -> None:
    assert _offered(StrategySpec) == {
        "central_storage": "tfdist_plugin_mirrored.central_storage:CentralStorageStrategy",
        "mirrored": "tfdist_plugin_mirrored.strategy:MirroredStrategy",
    }
    assert {"central_storage", "mirrored"} <= {spec.name for spec in tfdist.strategies()}


def test_cross_device_ops() -> None:
    assert _offered(CrossDeviceOpsSpec) == {
        "hierarchical_copy": "tfdist_plugin_mirrored.hierarchical_copy:HierarchicalCopyAllReduce",
        "nccl": "tfdist_plugin_mirrored.nccl:NcclAllReduce",
    }


def test_nccl_says_that_it_needs_gpus() -> None:
    [nccl] = [
        offer.spec
        for offer in plugins.current().offers(CrossDeviceOpsSpec)
        if offer.spec.name == "nccl"
    ]
    assert (nccl.capabilities.devices, nccl.capabilities.hardware) == (("GPU",), ("GPU",))


def test_its_hooks_import_no_tensorflow() -> None:
    code = (
        "import sys\nfrom tfdist_plugin_mirrored import plugin\n"
        "plugin.tfdist_strategies(), plugin.tfdist_cross_device_ops()\n"
        "sys.exit(str({'tensorflow', 'keras', 'grpc', 'numpy'} & set(sys.modules) or ''))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stderr.strip() == ""
