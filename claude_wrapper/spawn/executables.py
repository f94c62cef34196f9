"""Why a file cannot be run here: what kind of program it is, for which machine, and whether it is whole."""

from __future__ import annotations

import os
import platform
import stat
import struct
from pathlib import Path

__all__ = ["why_forbidden", "why_not_a_program"]

_HEAD = 4096
_ELF = b"\x7fELF"
_MACHO = {b"\xcf\xfa\xed\xfe", b"\xfe\xed\xfa\xcf", b"\xca\xfe\xba\xbe"}

_ELF_MACHINES = {
    3: "i386",
    40: "arm",
    62: "x86_64",
    183: "aarch64",
    243: "riscv64",
    22: "s390x",
    21: "ppc64le",
}
_PE_MACHINES = {0x14C: "i386", 0x8664: "x86_64", 0xAA64: "aarch64"}
_SAME = {"amd64": "x86_64", "arm64": "aarch64", "x64": "x86_64"}


def why_forbidden(path: Path) -> str:
    """Say why a file that is there may not be run."""
    mode = path.stat().st_mode
    if not mode & (stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH):
        return f"is not executable; allow it with: chmod +x {path}"
    # Only Linux tells it.
    if hasattr(os, "ST_NOEXEC") and os.statvfs(path).f_flag & os.ST_NOEXEC:
        return "lies on a file system that is mounted noexec, from which no program may be run; move it"
    return f"may not be run by this user; its mode is {stat.filemode(mode)}"


def why_not_a_program(path: Path) -> str:
    """Say what a file is that the system does not take for a program."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
        size = path.stat().st_size
    except OSError as error:
        return f"the file cannot be read: {error}"
    if not head:
        return "the file is empty"
    if head.startswith(_ELF):
        return _about_elf(head, size)
    if head[:4] in _MACHO:
        return "the file is a program for macOS" + (
            "" if platform.system() != "Darwin" else " on another machine"
        )
    if head.startswith(b"MZ"):
        return _about_pe(head)
    return "the file is neither a program of this system nor a script that begins with #!"


def _about_elf(head: bytes, size: int) -> str:
    if platform.system() != "Linux":
        return "the file is a program for Linux"
    if len(head) < 64:
        return f"the file is cut off: it has {size} bytes, less than the head of a program"
    order = "<" if head[5] == 1 else ">"
    machine = _ELF_MACHINES.get(struct.unpack_from(f"{order}H", head, 18)[0], "another machine")
    if machine != _this_machine():
        return f"the file is a program for {machine}; this machine is {_this_machine()}"
    needed = _elf_size(head, order)
    if size < needed:
        return f"the file is cut off: it has {size} bytes of at least {needed}"
    return "the file is a program of this system, but broken"


def _elf_size(head: bytes, order: str) -> int:
    """How far into the file a 64-bit program's segments reach, as far as its head tells."""
    if head[4] != 2:
        return 0
    table, entry, count = struct.unpack_from(f"{order}Q14xHH", head, 32)
    needed = table + entry * count
    for index in range(count):
        place = table + entry * index
        if entry < 56 or place + 56 > len(head):
            break
        offset, length = struct.unpack_from(f"{order}Q16xQ", head, place + 8)
        needed = max(needed, offset + length)
    return int(needed)


def _about_pe(head: bytes) -> str:
    place = struct.unpack_from("<I", head, 60)[0] if len(head) >= 64 else len(head)
    machine = ""
    if head[place : place + 4] == b"PE\0\0" and place + 6 <= len(head):
        machine = _PE_MACHINES.get(struct.unpack_from("<H", head, place + 4)[0], "another machine")
    if platform.system() == "Windows":
        return f"the file is a program for {machine or 'another machine'}; this machine is {_this_machine()}"
    return f"the file is a program for Windows{f' on {machine}' if machine else ''}"


def _this_machine() -> str:
    name = platform.machine().lower()
    return _SAME.get(name, name)
