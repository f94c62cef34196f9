"""Programs that run another program which stands among their arguments (as of 2026-11)."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Runner:
    """Where the inner command begins: after the options, their values and some other arguments."""

    valued: frozenset[str] = frozenset()
    """Options whose value is the next argument."""
    arguments: int = 0
    """How many arguments come before the command."""
    script_options: frozenset[str] = frozenset()
    """Options whose value is a command line of its own."""
    joins: bool = False
    """The rest is one command line, not a list of arguments."""


def _runner(valued: str = "", arguments: int = 0, scripts: str = "", *, joins: bool = False) -> Runner:
    return Runner(frozenset(valued.split()), arguments, frozenset(scripts.split()), joins)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


RUNNERS: dict[str, Runner] = {
    # Words of the shell itself, should they turn up in the place of a program.
    **dict.fromkeys(("!", "{", "do", "elif", "else", "if", "then", "until", "while"), _runner()),
    "bash": _runner("-O -o --rcfile --init-file", 10_000, "-c"),
    "builtin": _runner(),
    "busybox": _runner(),
    "caffeinate": _runner("-t -w"),
    "chroot": _runner("--userspec --groups", 1),
    "chrt": _runner("-T -P -D", 1),
    "command": _runner(),
    "coproc": _runner(),
    "dash": _runner("-o", 10_000, "-c"),
    "doas": _runner("-u -C"),
    "entr": _runner(),
    "env": _runner("-u --unset -C --chdir -a --argv0", 0, "-S --split-string"),
    "eval": _runner(joins=True),
    "exec": _runner("-a"),
    "fish": _runner("", 10_000, "-c --command -C --init-command"),
    "flock": _runner("-w --timeout -E --conflict-exit-code", 1, "-c --command"),
    "ionice": _runner("-c --class -n --classdata -p"),
    "ksh": _runner("-o", 10_000, "-c"),
    "linux32": _runner(),
    "linux64": _runner(),
    "ltrace": _runner("-e -o -p -s -u -l"),
    "nice": _runner("-n --adjustment"),
    "noglob": _runner(),
    "nohup": _runner(),
    "nsenter": _runner("-t --target -S --setuid -G --setgid"),
    "parallel": _runner("-j --jobs -a --arg-file -N -n -L -I", 0, joins=True),
    "prlimit": _runner("-p"),
    "proxychains": _runner("-f"),
    "runuser": _runner("-u -g -G", 0, "-c --command"),
    "script": _runner("-o -I -O -B -T -E -m", 1, "-c --command"),
    "setarch": _runner("", 1),
    "setpriv": _runner(),
    "setsid": _runner(),
    "sh": _runner("-o", 10_000, "-c"),
    "stdbuf": _runner("-i -o -e --input --output --error"),
    "strace": _runner("-e -o -p -s -u -a -b -I -O -S -P -E -X"),
    "su": _runner("-g -G -s --shell", 1, "-c --command"),
    "sudo": _runner("-u --user -g --group -h --host -p --prompt -C -D -R -r -t -T -U"),
    "systemd-run": _runner("-p --property -u --unit -E --setenv -M -H -t --slice --uid --gid"),
    "taskset": _runner("", 1),
    "time": _runner("-f --format -o --output"),
    "timeout": _runner("-k --kill-after -s --signal", 1),
    "toybox": _runner(),
    "trap": _runner(joins=True),
    "unbuffer": _runner(),
    "unshare": _runner("-S -G -R -w --root --wd"),
    "watch": _runner("-n --interval -q", joins=True),
    "xargs": _runner(
        "-I -n -P -L -s -d -E -a --max-args --max-procs --max-lines --max-chars --delimiter --arg-file"
    ),
    "zsh": _runner("-o", 10_000, "-c"),
}

SHELLS = frozenset({"bash", "dash", "fish", "ksh", "sh", "zsh"})

WHAT_THEY_START_IS_NOT_SHOWN = frozenset({"flock", "ionice", "setsid", "watch"})
"""A rule with a prefix does not speak of what these start."""

HIDE_WHAT_THEY_RUN = frozenset(
    {".", "alias", "bind", "complete", "compopt", "coproc", "enable", "eval", "exec", "let", "mapfile"}
    | {"readarray", "source", "trap"}
)
"""Builtins that run text from somewhere else, now or later."""

CHANGE_THE_SHELL = frozenset(
    {"declare", "export", "getopts", "hash", "local", "popd", "pushd", "read", "readonly", "set", "shopt"}
    | {"typeset", "unalias", "unset"}
)
"""Builtins after which other commands of the line may mean something else."""

EVALUATES = frozenset({"[", "[[", "compgen", "complete", "let", "test"})
"""Further builtins that take arguments for more than texts."""

KEYWORDS = frozenset(
    {"!", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in"}
    | {"select", "then", "until", "while", "{", "}"}
)

SAFE_VARIABLES = _names(
    "BLOCKSIZE BLOCK_SIZE CGO_ENABLED CHARSET CI CLICOLOR CLICOLOR_FORCE COLORTERM COLUMNS FORCE_COLOR GCC_COLORS"
    " GO111MODULE GOARCH GOEXPERIMENT GOOS GREP_COLOR GREP_COLORS LANG LANGUAGE LC_ALL LC_COLLATE LC_CTYPE"
    " LC_MESSAGES LC_NUMERIC LC_TIME LINES LSCOLORS LS_COLORS NODE_ENV NO_COLOR PYTEST_DEBUG"
    " PYTEST_DISABLE_PLUGIN_AUTOLOAD PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED RUST_BACKTRACE RUST_LOG TERM"
    " TIME_STYLE TZ"
)
"""Variables that an allow rule looks past: they change how a program writes, not what it does."""
SAFE_VALUE = re.compile(r"[\w./:@,+%-]*\Z", re.ASCII)


def changes_the_shell(arguments: tuple[str, ...]) -> bool:
    """Whether other commands of the line may mean something else after this one."""
    if arguments[0] == "printf":
        return any(word.startswith("-v") for word in arguments[1:])
    return arguments[0] in CHANGE_THE_SHELL
