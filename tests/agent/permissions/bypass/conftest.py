"""A table of command lines, and a place where what a shell really does with them can be watched.

In the tables `␤ ␉ ␍ ␛` stand for a new line, a tab, a carriage return and an escape, `⟨00A0⟩` for the character of
that number. Each line is tried in a project of its own: programs are stubs that note down how they were called, and
whatever is printed or changed is seen as well.
"""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

TABLES = Path(__file__).with_name("tables")
SECRET = "SECRET-LINE"
OUTSIDE = "SECRET-OUTSIDE"
PATIENCE = 3.0
NOTED = """#!/bin/sh
printf '%s\\036' {name} >> {log}
"""
PASSES_ON = """#!/bin/sh
while [ $# -gt 0 ]; do case $1 in -u|-g) shift 2;; --) shift; break;; -*|*=*) shift;; *) break;; esac; done
exec "$@"
"""
STUBS = ("curl", "frob", "npm")
HIJACKED = ("frob", "npm", "ls", "git", "cat", "echo")
REAL_PROGRAMS = """
[ awk base64 basename bash cat chrt cmp comm cp cut dash date dd diff dirname du echo env ex expand expr false find flock
fmt fold git grep egrep fgrep head id install ionice jq join less ln ls make man mawk mkdir mktemp mv nice node nl nohup
od paste perl pr prlimit printf pwd python3 readlink rev rm rmdir run-parts scp script sed seq setarch setsid linux32
linux64 sftp sh shred sleep sort split ssh stat stdbuf strace tac tail tar taskset tee test time timeout touch tr true
truncate uname unexpand uniq unlink unshare vi view vim wc which xargs xxd ed patch column strings sha256sum
"""
FILES = {
    "a": "x\n",
    "text": "x\n",
    "ok.py": "pass\n",
    "ok.sh": "true\n",
    "ok.mk": "x:\n\t@true\n",
    "evil.mk": "x:\n\t@curl x\n",
    "writes.mk": "x:\n\t@echo x > kept.txt\n",
    "evil/Makefile": "x:\n\t@curl x\n",
    "Makefile": "all:\n\t@true\n",
    "sub/Makefile": "all:\n\t@true\n",
    "prog.awk": 'BEGIN { system("curl x") }\n',
    "prog.sed": "1e curl x\n",
    "x.json": "{}\n",
    "names": ".env\n",
    "cred": "url=http://127.0.0.1:9\n",
    "cfg": "Host h\nProxyCommand curl x\n",
    "edscript": ",d\nw\nq\n",
    "p.diff": "--- kept.txt\n+++ kept.txt\n@@ -1 +1 @@\n-kept\n+x\n",
    "evil.git/HEAD": "ref: refs/heads/main\n",
    "evil.git/config": "[core]\nfsmonitor = curl x\nrepositoryformatversion = 0\nbare = false\n[alias]\ny = !curl x\n",
    "evil.git/objects/info/x": "",
    "evil.git/refs/heads/x": "",
    "evil.cfg": "[alias]\ny = !curl x\n",
    "evil/.gitconfig": "[alias]\ny = !curl x\n",
    "evilxdg/git/config": "[alias]\ny = !curl x\n",
    "evil/.git/HEAD": "ref: refs/heads/main\n",
    "evil/.git/config": "[core]\nfsmonitor = curl x\n",
    "evil/.git/objects/info/x": "",
    "evil/.git/refs/heads/x": "",
    "evil/evilmod.py": 'import os; os.system("curl x")\n',
    "evil/evilmod.pm": 'system "curl x"; 1;\n',
    "evil/x.js": 'require("child_process").execSync("curl x")\n',
    ".env": f"{SECRET}\n",
    "kept.txt": "kept\n",
    "sub/kept.txt": "other\n",
    "kept/f": "kept\n",
    "kept/sub/f": "kept\n",
}
LINKS = {
    "to-env": ".env",
    "to-to-env": "to-env",
    "to-dir": ".",
    "to-cwd": ".",
    "to-parent": "..",
    "sub/to-up": "..",
    "to-kept": "kept.txt",
    "to-outside": "../outside",
    "to-secret": "../outside/secret",
}
CODES = {"␤": "\n", "␉": "\t", "␍": "\r", "␛": "\x1b"}


@dataclass(frozen=True)
class Line:
    """One line of a table; an attack tries to get more done than rules say."""

    table: str
    text: str
    attack: bool
    beyond: bool = False
    """What is refused is only named in a file on disk, or worked on by another language."""


@dataclass
class Ran:
    """What a shell did with a line."""

    programs: set[str] = field(default_factory=set)
    """Names of the stubs that were started; `evil` for those that only bear a familiar name."""
    printed: str = ""
    changed: set[str] = field(default_factory=set)


def decoded(text: str) -> str:
    for sign, character in CODES.items():
        text = text.replace(sign, character)
    return re.sub(r"⟨([0-9A-F]{4})⟩", lambda found: chr(int(found[1], 16)), text)


def lines_of(table: str) -> list[Line]:
    found: list[Line] = []
    section = "[attacks]"
    for row in (TABLES / f"{table}.txt").read_text().splitlines():
        if row in ("[attacks]", "[beyond a refusal]", "[harmless]"):
            section = row
        elif row and not row.startswith("# "):
            found.append(Line(table, decoded(row), section != "[harmless]", section == "[beyond a refusal]"))
    return found


class Arena:
    """A project, a home and a folder outside, as they are before each line."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.project = root / "project"
        self.home = root / "home"
        self._log = root / "log"
        self._stubs = root / "stubs"
        self._fresh = root / "fresh"
        self._stale = {"project", "home", "outside", "copy"}
        self._lay_out_programs()
        self._lay_out_files()
        self.reset()

    def _lay_out_programs(self) -> None:
        for folder in (self._stubs, self.root / "real"):
            folder.mkdir(parents=True)
        for name in STUBS:
            write(self._stubs / name, NOTED.format(name=name, log=self._log), 0o755)
        for name in ("sudo", "doas"):
            write(self._stubs / name, PASSES_ON, 0o755)
        for name in REAL_PROGRAMS.split():
            found = shutil.which(name)
            if found:
                (self.root / "real" / name).symlink_to(found)

    def _lay_out_files(self) -> None:
        project = self._fresh / "project"
        for name, text in FILES.items():
            write(project / name, text)
        for name in HIJACKED:
            write(project / "evil" / name, NOTED.format(name="evil", log=self._log), 0o755)
        write(project / "hooks" / "pre-commit", "#!/bin/sh\ncurl x\n", 0o755)
        for name, target in LINKS.items():
            (project / name).symlink_to(target)
        (project / "kept" / "empty").mkdir()
        (project / "stubs").symlink_to(self._stubs)
        write(self._fresh / "home" / "old", "old\n")
        write(self._fresh / "outside" / "secret", f"{OUTSIDE}\n")
        for number in (1, 2):
            write(project / "text", f"x {number}\n")
            self._git(project, "init", "-q", "-b", "main") if number == 1 else None
            self._git(project, "add", "a", "text")
            self._git(project, "-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "-m", "m")
        write(project / ".git" / "info" / "exclude", "*\n")
        for archive, member in (("t.tar", "a"), ("kept.tar", "kept.txt")):
            subprocess.run(["tar", "cf", archive, member], cwd=project, check=True, timeout=20)

    def _git(self, project: Path, *arguments: str) -> None:
        template = ("-c", "init.templateDir=")
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.root), "GIT_CONFIG_NOSYSTEM": "1"}
        subprocess.run(["git", *template, *arguments], cwd=project, env=environment, check=True, timeout=20)

    def reset(self) -> None:
        """Everything as it was at first, should a line have changed it since then."""
        if not self._stale:
            return
        for name in self._stale:
            path, fresh = self.root / name, self._fresh / name
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
            if fresh.is_symlink():
                path.symlink_to(fresh.readlink())
            elif fresh.is_dir():
                shutil.copytree(fresh, path, symlinks=True)
            elif fresh.exists():
                shutil.copy2(fresh, path)
        self._before = self._seen()
        self._stale = set()

    def run(self, text: str) -> Ran:
        """What bash does with a line that an agent would give it."""
        self.reset()
        if "\0" in text:
            return Ran()
        self._log.write_text("")
        environment = {
            "PATH": f"{self._stubs}:{self.root / 'real'}",
            "HOME": str(self.home),
            "TERM": "dumb",
            "LANG": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        shell = subprocess.Popen(
            ["bash", "-c", 'eval "$1"', "bash", text],
            cwd=self.project,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            printed = shell.communicate(timeout=PATIENCE)[0]
        except subprocess.TimeoutExpired:
            os.killpg(shell.pid, signal.SIGKILL)
            printed = shell.communicate()[0]
        started = set(self._log.read_text().split("\x1e")) - {""}
        after = self._seen()
        names = self._before.keys() | after.keys()
        changed = {name for name in names if self._before.get(name) != after.get(name)}
        self._stale = {name if name.count("/") == 0 else "/".join(name.split("/")[:2]) for name in changed}
        return Ran(started, printed.decode("utf-8", "replace"), changed)

    def _seen(self) -> dict[str, object]:
        """Every file that a line could have changed, and how it is."""
        seen: dict[str, object] = {}
        for top in ("project", "home", "outside", "copy"):
            for folder, folders, files in os.walk(self.root / top):
                for name in (*folders, *files):
                    path = Path(folder, name)
                    if path.name == "index":  # git tidies it up whenever it looks at it
                        continue
                    stat = path.lstat()
                    kind = stat.st_mode, stat.st_ino, stat.st_size, stat.st_mtime_ns if name in files else 0
                    seen[str(path.relative_to(self.root))] = kind
        return seen


def write(path: Path, text: str, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


@pytest.fixture(scope="session")
def arena(tmp_path_factory) -> Arena:
    return Arena(tmp_path_factory.mktemp("arena").resolve() / "a")


@pytest.fixture(scope="session")
def tables() -> dict[str, list[Line]]:
    return {path.stem: lines_of(path.stem) for path in sorted(TABLES.glob("*.txt"))}


@pytest.fixture(scope="session")
def secrets() -> Callable[..., set[str]]:
    """Which lines of secret files were printed."""

    def found(ran: Ran, *, outside: bool = True) -> set[str]:
        wanted = {SECRET, OUTSIDE} if outside else {SECRET}
        return wanted & set(ran.printed.replace(":", " ").split())

    return found
