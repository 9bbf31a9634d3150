"""The package's names that strategies stand behind, and a machine on which all is well."""

import importlib.metadata
import re

import pytest
from core.tests.cli.conftest import Tfdist
from core.tests.conftest import PluginSite
from core.tests.test_package import WITHOUT_TENSORFLOW, run

import tfdist


def test_every_public_name_resolves() -> None:
    for name in tfdist.__all__:
        assert getattr(tfdist, name) is not None
    assert set(tfdist.__all__) <= set(dir(tfdist))
    assert list(tfdist.__all__) == sorted(tfdist.__all__)


def test_strategies_stays_a_function_beside_its_subpackage() -> None:
    import tfdist.strategies.base

    assert callable(tfdist.strategies)
    assert [spec.name for spec in tfdist.strategies()]


def test_without_tensorflow_the_sentence_says_what_to_install() -> None:
    code = (
        f"{WITHOUT_TENSORFLOW}import tfdist\n"
        "try:\n    tfdist.strategy('one_device')\n"
        "except tfdist.errors.TensorFlowMissingError as error:\n    print(error)"
    )
    assert run(code) == (
        "'one_device' needs TensorFlow, which is not installed: run `pip install "
        "'tfdist[tf-cpu]'`, `'tfdist[tf-cuda]'` for NVIDIA GPUs, or `'tfdist[tf]'`."
    )


@pytest.mark.parametrize("name", ["Strategy", "OneDeviceStrategy"])
def test_classes_without_tensorflow(name: str) -> None:
    code = (
        f"{WITHOUT_TENSORFLOW}import tfdist\n"
        f"try:\n    tfdist.{name}\n"
        "except tfdist.errors.TensorFlowMissingError as error:\n    print(error)"
    )
    assert run(code).startswith(f"tfdist.{name} needs TensorFlow, which is not installed: run")


def test_doctor_finds_nothing_wrong(
    plugin_site: PluginSite, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TFDIST_STRATEGY", "one_device")
    shown = Tfdist(capsys)("doctor")
    rows = {tuple(line.split()[:2]): line for line in shown.lines if line}
    assert rows["Strategy", "one_device"].endswith("works")
    assert rows["CrossDeviceOps", "reduction_to_one_device"].endswith("works")
    assert "TFDIST_STRATEGY  one_device" in shown.lines
    version = importlib.metadata.version("keras")
    assert re.search(rf"^keras +{re.escape(version)}$", shown.out, re.MULTILINE)
    assert (shown.code, shown.lines[-1]) == (0, "No problems found.")
