"""The oldest system that a folder of programs runs on, read from the programs themselves."""

from __future__ import annotations

import platform
import subprocess
import sys
import sysconfig
from dataclasses import dataclass, field
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

_OF_GLIBC = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libutil.so.1"}
"""Libraries that every system with glibc has."""

_MACHINES = {"x64": "x86_64", "AArch64": "aarch64"}


class UnportableError(Exception):
    """The programs need something that not every system of the kind has."""


@dataclass(frozen=True)
class Floor:
    """What a folder of programs needs of a system."""

    libc: str
    """`glibc`, `musl`, `static`, or the name of a system that is not Linux."""
    oldest: str
    """The oldest version of it."""
    tag: str
    """The platform of a wheel that holds the folder."""
    decided_by: str = ""
    """The program that needs so new a version."""


@dataclass
class _Needs:
    machine: str = ""
    libraries: set[str] = field(default_factory=set)
    loader: str = ""
    looks_beside: bool = False
    """Whether it looks for libraries in a folder beside it."""
    glibc: tuple[int, ...] = ()


def floor_of(folder: Path) -> Floor:
    """Return the floor of everything in a folder. Raises UnportableError."""
    if sys.platform != "linux":
        return Floor(sys.platform, platform.release(), _tag_of_build_machine())
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    needs = {path: found for path in files if (found := needs_of(path)) is not None}
    if not needs:
        raise UnportableError(f"There is no program in {folder}")
    machines = {each.machine for each in needs.values()}
    if len(machines) > 1:
        raise UnportableError(f"Programs for different machines: {', '.join(sorted(machines))}")
    _check_libraries(needs, {path.name for path in files})
    machine = machines.pop()
    loaders = {each.loader for each in needs.values() if each.loader}
    if any("ld-musl" in loader for loader in loaders):
        oldest = _musl_version(next(loader for loader in sorted(loaders) if "ld-musl" in loader))
        return Floor("musl", oldest, f"musllinux_{oldest.replace('.', '_')}_{machine}")
    newest = max(needs, key=lambda path: needs[path].glibc)
    version = needs[newest].glibc
    if not version:
        # Programs that need no C library run on both kinds; a tag can name only one.
        return Floor("static", "", f"linux_{machine}", "")
    version = max(version, (2, 17))
    return Floor(
        "glibc",
        ".".join(map(str, version)),
        f"manylinux_{version[0]}_{version[1]}_{machine}",
        newest.relative_to(folder).as_posix(),
    )


def _tag_of_build_machine() -> str:
    """The platform that this Python was made for; on macOS for one machine, as the agent's libraries are."""
    name = sysconfig.get_platform()
    if name.startswith("macosx-"):
        version = tuple(map(int, name.split("-")[1].split(".")))
        oldest = max(version, (11, 0)) if platform.machine() == "arm64" else version
        name = f"macosx-{oldest[0]}.{oldest[1] if len(oldest) > 1 else 0}-{platform.machine()}"
    return name.replace("-", "_").replace(".", "_")


def needs_of(path: Path) -> _Needs | None:
    """Return what a program or library asks of the system; None for other files."""
    with path.open("rb") as file:
        if file.read(4) != b"\x7fELF":
            return None
        try:
            elf = ELFFile(file)
            needs = _Needs(machine=_MACHINES.get(elf.get_machine_arch(), elf.get_machine_arch().lower()))
            for segment in elf.iter_segments("PT_INTERP"):
                needs.loader = segment.get_interp_name()
            for section in elf.iter_sections():
                _read(section, needs)
        except ELFError as error:
            raise UnportableError(f"{path} is broken: {error}") from error
    return needs


def _read(section: object, needs: _Needs) -> None:
    if isinstance(section, DynamicSection):
        needs.libraries |= {tag.needed for tag in section.iter_tags("DT_NEEDED")}
        paths = [tag.runpath for tag in section.iter_tags("DT_RUNPATH")]
        paths += [tag.rpath for tag in section.iter_tags("DT_RPATH")]
        needs.looks_beside |= any("$ORIGIN" in path for path in paths)
    elif isinstance(section, GNUVerNeedSection):
        for _, versions in section.iter_versions():
            for each in versions:
                if each.name.startswith("GLIBC_") and each.name[6].isdigit():
                    needs.glibc = max(needs.glibc, tuple(map(int, each.name[6:].split("."))))


def _check_libraries(needs: dict[Path, _Needs], inside: set[str]) -> None:
    for path, each in needs.items():
        # Libraries are loaded by a start program that tells where they are; it has to find its own.
        found = inside if each.looks_beside or not each.loader else set()
        missing = {
            name
            for name in each.libraries - found - _OF_GLIBC
            if not name.startswith(("ld-linux", "libc.musl-")) and name != "libc.so"
        }
        if missing:
            raise UnportableError(f"{path} needs {', '.join(sorted(missing))}, which other systems may lack")


def _musl_version(loader: str) -> str:
    """Ask the loader, which prints its version when it is run without a program."""
    try:
        said = subprocess.run([loader], capture_output=True, text=True, check=False, timeout=10).stderr
    except OSError as error:
        raise UnportableError(f"The loader {loader} is not here to be asked for its version") from error
    for line in said.splitlines():
        if line.startswith("Version "):
            return ".".join(line.split()[1].split(".")[:2])
    raise UnportableError(f"The loader {loader} does not tell its version")
