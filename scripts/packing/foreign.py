"""Another agent's executable for a wheel of one's own: from a file, or from a package of the npm registry."""

from __future__ import annotations

import base64
import hashlib
import shutil
import stat
import subprocess
import tarfile
import tempfile
from pathlib import Path

from packing.plan import EXECUTABLE

_ALGORITHMS = {"sha256", "sha384", "sha512"}
_MINUTES = 15


class ForeignError(Exception):
    """The executable cannot be had as asked for; the text says why."""


def from_file(source: Path, folder: Path) -> None:
    """Copy an executable, under the name by which the library looks for it."""
    if not source.is_file():
        raise ForeignError(
            f"{source} is {'a folder' if source.is_dir() else 'not there'}; give an executable"
        )
    folder.mkdir(parents=True)
    target = folder / EXECUTABLE
    shutil.copyfile(source, target)
    target.chmod(0o755)


def from_npm(package: str, integrity: str, member: str | None, folder: Path) -> None:
    """Fetch NAME@VERSION, or the package of a folder, check its hash, and take the executable out of it.

    `integrity` is written as in lock files: sha512-BASE64.
    """
    if "@" not in package[1:] and not Path(package).exists():
        raise ForeignError(f"{package} names no version; write NAME@VERSION")
    algorithm, _, expected = integrity.partition("-")
    if algorithm not in _ALGORITHMS or not expected:
        raise ForeignError("The integrity is written as in lock files, for example sha512-BASE64")
    npm = shutil.which("npm")
    if npm is None:
        raise ForeignError("npm is needed to fetch the package")
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        command = [npm, "pack", "--silent", "--ignore-scripts", "--pack-destination", name, package]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_MINUTES * 60)
        archives = list(place.glob("*.tgz"))
        if done.returncode or len(archives) != 1:
            raise ForeignError(f"npm cannot fetch {package}: {done.stderr.strip()[-500:]}")
        found = base64.b64encode(hashlib.new(algorithm, archives[0].read_bytes()).digest()).decode()
        if found != expected:
            raise ForeignError(f"The hash of {package} is {algorithm}-{found}, not the one that was given")
        from_file(_member(archives[0], member, place), folder)


def _member(archive: Path, wanted: str | None, place: Path) -> Path:
    """Take out the file that is wanted, or the only one that may be run and is no script."""
    with tarfile.open(archive) as package:
        files = [each for each in package.getmembers() if each.isfile()]
        if wanted is not None:
            chosen = [each for each in files if each.name.removeprefix("package/") == wanted]
        else:
            chosen = [each for each in files if _is_program(package, each)]
        if len(chosen) != 1:
            names = ", ".join(each.name.removeprefix("package/") for each in (chosen or files)[:20])
            raise ForeignError(f"Which file is the executable? Say so with --member. There are: {names}")
        content = package.extractfile(chosen[0])
        assert content is not None
        target = place / "executable"
        with target.open("wb") as file:
            shutil.copyfileobj(content, file)
    return target


def _is_program(package: tarfile.TarFile, entry: tarfile.TarInfo) -> bool:
    if not entry.mode & stat.S_IXUSR and not entry.name.endswith(".exe"):
        return False
    content = package.extractfile(entry)
    assert content is not None
    return content.read(4) in {b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"} or entry.name.endswith(
        ".exe"
    )
