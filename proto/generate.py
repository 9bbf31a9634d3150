"""Generate the modules in core/src/tfdist/wire from the .proto files beside this script.

    python proto/generate.py           writes them
    python proto/generate.py --check   fails if what is there differs from what would be written

Needs grpcio-tools 1.49.1 and setuptools<81, on Python 3.10 or 3.11. That is the oldest generator
that writes stubs for type checkers too, and modules that leave the work to the protobuf that is
installed. Its output holds no check of the protobuf it runs with: tried with 3.20.3, 4.21, 5.28,
6.33 and 7.36, where TensorFlow 2.19 allows 3.20.3 to 5 and TensorFlow 2.20 and 2.21 allow 5.28 and
later.
"""

import argparse
import re
import sys
import tempfile
from pathlib import Path

from grpc_tools import protoc

ROOT = Path(__file__).resolve().parent
WIRE = ROOT.parent / "core" / "src" / "tfdist" / "wire"
SUFFIXES = ("_pb2.py", "_pb2.pyi")


def generate(folder: Path) -> dict[str, str]:
    """Run the generator and return its output by file name, for the package `tfdist.wire`."""
    sources = sorted(str(path.relative_to(ROOT)) for path in ROOT.rglob("*.proto"))
    outputs = (f"--python_out={folder}", f"--pyi_out={folder}")
    if protoc.main(["protoc", f"-I{ROOT}", *outputs, *sources]) != 0:
        sys.exit("The generator failed; its message is above.")
    found = sorted(path for path in folder.rglob("*") if path.name.endswith(SUFFIXES))
    return {path.name: _moved(path.read_text()) for path in found}


def _moved(text: str) -> str:
    """The messages' package is tfdist.v1, their modules are in tfdist.wire."""
    text = text.replace("from tfdist.v1 import", "from tfdist.wire import")
    text = re.sub(r"'tfdist\.v1\.(\w+_pb2)'", r"'tfdist.wire.\1'", text)
    return text.rstrip("\n") + "\n"


def differing(wanted: dict[str, str]) -> list[str]:
    """Name the files that are missing, stale or left over."""
    present = {
        path.name: path.read_text() for path in WIRE.iterdir() if path.name.endswith(SUFFIXES)
    }
    names = wanted.keys() | present.keys()
    return sorted(name for name in names if wanted.get(name) != present.get(name))


def main() -> None:
    """Write the modules, or check them."""
    parser = argparse.ArgumentParser(description="Generate core/src/tfdist/wire from proto/.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if stale")
    check = parser.parse_args().check
    with tempfile.TemporaryDirectory() as folder:
        wanted = generate(Path(folder))
    stale = differing(wanted)
    if check and stale:
        sys.exit(f"Stale: {', '.join(stale)}. Run `tox -e proto`.")
    for name in stale if not check else ():
        if name in wanted:
            WIRE.joinpath(name).write_text(wanted[name])
        else:
            WIRE.joinpath(name).unlink()


if __name__ == "__main__":
    main()
