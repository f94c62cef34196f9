"""Starting a process: its working directory, user, session and pipes, and why it could not be started."""

from __future__ import annotations

import errno
import os
import subprocess  # noqa: TID251  # processes are started in this package
import sys
from pathlib import Path
from typing import Any

from claude_wrapper.errors import AgentStartError

from .executables import why_forbidden, why_not_a_program

__all__ = ["Account", "launch", "resolve_account"]


_NO_PROGRAM = {errno.ENOEXEC, errno.ELIBBAD, getattr(errno, "EBADARCH", errno.ENOEXEC)}


class Account:
    """A user that an agent runs as, with the groups of that user."""

    __slots__ = ("gid", "groups", "name", "uid")

    def __init__(self, name: str, uid: int, gid: int, groups: list[int]) -> None:
        self.name = name
        self.uid = uid
        self.gid = gid
        self.groups = groups


if sys.platform == "win32":

    def resolve_account(user: str | int | None) -> Account | None:
        """Refuse a user: Windows starts processes only as the current one."""
        if user is not None:
            raise AgentStartError("The option user needs a POSIX system; leave it out on Windows")
        return None

else:

    def resolve_account(user: str | int | None) -> Account | None:
        """Look up the user that an agent shall run as; None for the current one."""
        if user is None:
            return None
        import pwd  # noqa: PLC0415  # absent on Windows, needed by few

        try:
            entry = pwd.getpwuid(user) if isinstance(user, int) else pwd.getpwnam(user)
        except KeyError as error:
            raise AgentStartError(
                f"The option user names {user!r}, whom this system does not know"
            ) from error
        if entry.pw_uid == os.geteuid():
            return None
        # All groups are those of the user: a process must not keep the groups of the one who started it.
        return Account(
            entry.pw_name, entry.pw_uid, entry.pw_gid, os.getgrouplist(entry.pw_name, entry.pw_gid)
        )


def launch(
    argv: list[str], env: dict[str, str], cwd: str | os.PathLike[str] | None, account: Account | None = None
) -> subprocess.Popen[bytes]:
    """Start a process in a session of its own, with pipes for stdin, stdout and stderr.

    Raises AgentStartError with the reason.
    """
    if cwd and not Path(cwd).is_dir():
        what = "is not a folder" if Path(cwd).exists() else "does not exist"
        raise AgentStartError(f"Working directory {what}: {cwd}")
    extra: dict[str, Any] = {"creationflags": 0x200} if os.name == "nt" else {"start_new_session": True}
    if account is not None:
        extra |= {"user": account.uid, "group": account.gid, "extra_groups": account.groups}
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen(
            argv, stdin=pipe, stdout=pipe, stderr=pipe, env=env, cwd=cwd or None, bufsize=0, **extra
        )
    except (OSError, ValueError) as error:
        reason = _reason(error, argv, env, cwd, account)
        raise AgentStartError(f"Failed to start the agent {argv[0]}: {reason}") from error


def _reason(
    error: Exception,
    argv: list[str],
    env: dict[str, str],
    cwd: str | os.PathLike[str] | None,
    account: Account | None,
) -> str:
    number = getattr(error, "errno", None)
    if number == errno.E2BIG or getattr(error, "winerror", None) == 206:
        return _too_long(argv, env)
    if number == errno.ENOENT and Path(argv[0]).exists():
        return f"its interpreter is missing: {_interpreter(argv[0])}"
    if number in _NO_PROGRAM or getattr(error, "winerror", None) == 193:
        return why_not_a_program(Path(argv[0]))
    if number == errno.EPERM and account is not None:
        return f"this process may not start others as the user {account.name}"
    if number == errno.EACCES:
        if account is None and Path(argv[0]).is_file() and not os.access(argv[0], os.X_OK):
            return f"the file {why_forbidden(Path(argv[0]))}"
        who = f" for the user {account.name}" if account else ""
        return f"permission denied{who}: the file, its folders or the working directory {cwd or '.'}"
    return str(error)


def _too_long(argv: list[str], env: dict[str, str]) -> str:
    """Name what takes most of a command line that is too long, but not what it holds."""
    index = max(range(len(argv)), key=lambda i: len(argv[i]))
    size = len(argv[index])
    variable = max(env, key=lambda name: len(env[name]), default=None)
    if variable is not None and len(env[variable]) > size:
        what, size = f"the variable {variable}", len(env[variable])
    else:
        flag = argv[index].split("=", 1)[0] if argv[index].startswith("--") else argv[index - 1]
        what = f"the argument of {flag}"
    return f"its command line and environment are too large; most of it is {what} ({size} characters)"


def _interpreter(path: str) -> str:
    """Return what a program needs to run: the interpreter of a script, the loader of a binary."""
    with Path(path).open("rb") as file:
        head = file.read(64 * 1024)
    if head.startswith(b"#!"):
        return head[2:].split(b"\n", 1)[0].strip().decode("utf-8", "replace")
    start = head.find(b"/lib")
    if head.startswith(b"\x7fELF") and start > 0:
        loader = head[start:].split(b"\0", 1)[0].decode("utf-8", "replace")
        return f"{loader}, the loader; the program was built for another kind of Linux"
    return "unknown"
