"""Small installed distributions for tests of plugins: no build, no installer, no network."""

import json
from collections.abc import Mapping
from pathlib import Path


def write_distribution(
    site: Path,
    name: str,
    *,
    modules: Mapping[str, str],
    entry_points: Mapping[str, str],
    version: str = "1.0",
    api: str | None = "1.0",
    source: Path | None = None,
) -> Path:
    """Lay out an installed plugin as installers do.

    Args:
        site: The folder it is installed in; what a test puts on `sys.path`.
        name: Name of the distribution.
        modules: Source text by module name; names may have dots.
        entry_points: Entry points of the group `tfdist.plugins`: target by name.
        version: Version of the distribution.
        api: The plugin API that it declares, such as `"1.0-1.x"`; None declares nothing.
        source: A folder for the modules, apart from `site`, as an editable install has it.

    Returns:
        The folder with the distribution's metadata.
    """
    for module, text in modules.items():
        _write(source or site, module, text)
    stem = name.replace("-", "_").replace(".", "_")
    info = site / f"{stem}-{version}.dist-info"
    info.mkdir(parents=True)
    info.joinpath("METADATA").write_text(_metadata(name, version, api))
    points = "".join(f"{key} = {target}\n" for key, target in entry_points.items())
    info.joinpath("entry_points.txt").write_text(f"[tfdist.plugins]\n{points}")
    if source is not None:
        site.joinpath(f"_editable_{stem}.pth").write_text(f"{source}\n")
        origin = {"url": source.as_uri(), "dir_info": {"editable": True}}
        info.joinpath("direct_url.json").write_text(json.dumps(origin))
    return info


def _metadata(name: str, version: str, api: str | None) -> str:
    keywords = "" if api is None else f"Keywords: distributed,tfdist-plugin-api:{api},training\n"
    return f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{keywords}\nA plugin.\n"


def _write(folder: Path, module: str, text: str) -> None:
    *packages, last = module.split(".")
    for package in packages:
        folder /= package
        folder.mkdir(parents=True, exist_ok=True)
        folder.joinpath("__init__.py").touch()
    folder.mkdir(parents=True, exist_ok=True)
    folder.joinpath(f"{last}.py").write_text(text)
