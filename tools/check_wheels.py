"""Build every package, install the wheels into a bare environment, and use them there.

Usage: python tools/check_wheels.py FOLDER

There is no TensorFlow in that environment, so this also shows that listing plugins needs none.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = [ROOT / "core", *sorted(path.parent for path in ROOT.glob("plugins/*/pyproject.toml"))]
STRATEGIES = {"one_device", "mirrored", "central_storage"}


def run(*command: str | Path) -> str:
    """Run a command that must succeed; its output, which is shown if it does not."""
    text = [str(part) for part in command]
    print("+", " ".join(text), flush=True)
    done = subprocess.run(text, capture_output=True, text=True, cwd=ROOT / "tools", check=False)
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}failed with {done.returncode}")
    return done.stdout


def build(folder: Path) -> list[Path]:
    """Source distributions and the wheels built from them."""
    for package in PACKAGES:
        run(sys.executable, "-m", "build", "--outdir", folder, package)
    artifacts = sorted(folder.iterdir())
    run(sys.executable, "-m", "twine", "check", "--strict", *artifacts)
    return [path for path in artifacts if path.suffix == ".whl"]


def install(folder: Path, wheels: list[Path]) -> Path:
    """The folder of the programs of a new environment that has the wheels."""
    venv.create(folder, with_pip=True, clear=True)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    run(programs / "python", "-m", "pip", "install", "--quiet", *wheels)
    return programs


def check(programs: Path) -> None:
    """Every package is complete and every strategy is listed."""
    plugins = json.loads(run(programs / "tfdist", "plugins", "--json"))
    broken = [plugin["name"] for plugin in plugins if plugin["error"]]
    listing = run(programs / "tfdist", "strategies")
    missing = sorted(name for name in STRATEGIES if name not in listing)
    run(programs / "python", "-m", "pip", "check")
    if broken or missing:
        sys.exit(f"broken plugins: {broken}, strategies not listed: {missing}\n{listing}")
    print(listing)


def main() -> None:
    """Build, install, check."""
    folder = Path(sys.argv[1]).resolve()
    dist = folder / "dist"
    dist.mkdir(parents=True, exist_ok=True)
    for old in dist.iterdir():
        old.unlink()
    check(install(folder / "env", build(dist)))


if __name__ == "__main__":
    main()
