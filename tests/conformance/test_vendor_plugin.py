"""A stranger's plugin: installed by pip, listed, and put through the suites."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
VENDOR = ROOT / "examples" / "vendor_plugin"


def run(site: Path, *command: str) -> str:
    """Run Python where the vendor's plugin is installed too; its output."""
    environment = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run(
        [sys.executable, *command],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the plugin installed, apart from the environment that all tests share."""
    target = tmp_path_factory.mktemp("site")
    offline = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet")
    run(target, "-m", "pip", "install", *offline, "--target", str(target), str(VENDOR))
    return target


def test_it_is_listed_beside_our_own(site):
    listing = run(site, "-c", "import tfdist.cli; tfdist.cli.main()", "strategies")
    assert "ring_mirrored" in listing
    assert "tfdist-example-vendor 0.1.0" in listing
    assert "hierarchical_copy" in listing


@pytest.mark.timeout(300)
def test_it_passes_the_suites(site):
    summary = run(site, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(VENDOR / "tests"))
    assert " passed" in summary
    assert "failed" not in summary
