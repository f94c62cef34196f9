"""Whether a line may run a program that does not show in it, for rules that refuse some programs.

Programs and scripts that lie on disk are not looked into; what the line itself says, in whatever language, is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from .command_patterns import command_pattern
from .rules import SourcedRule
from .runners import RUNNERS, SHELLS
from .shell_line import ShellLine

if TYPE_CHECKING:
    from .reveal import Revealed

_WORKED_OUT = re.compile(r"[$`*?{]|\[.*\]")
_WORD = re.compile(r"[\w.+-]+")
_ODD = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_OPENED_FILE = re.compile(r"/dev/(?:stdin|fd/)|/proc/|-\Z|.*[$`<]")
_TAKES_ITS_PROGRAM_FROM_INPUT = frozenset(RUNNERS) | {"find", "fd", "git", "perl", "python3", "awk", "make"}

_SCRIPTED = re.compile(
    r"(?:python|perl|ruby|node|php|lua|pypy|deno|bun)[\d.]*|[gmn]?awk|sed|ed|ex|n?vim?|view|emacs|gdb|sqlite3|m4|bc|dc"
    r"|expect|tclsh|tar|rsync|ssh|scp|sftp|g?make|man|less|split|sort|rg|zip|npm|npx|osascript|jq|busybox"
)
"""Programs whose arguments and input may tell them to run another program."""
_GIT_RUNS = frozenset({"bisect", "submodule", "submodule--helper", "filter-branch", "config"})
_GIT_OPTIONS = re.compile(
    r"-[cOxu]|--(?:config-env|upload-pack|receive-pack|exec|exec-path|extcmd|open-files-in-pager|.*-filter|template)"
)
_STEERS = re.compile(
    r"BASH_ENV|ENV|BASH_FUNC.*|PROMPT_COMMAND|SHELLOPTS|BASHOPTS|IFS|LD_.*|DYLD_.*|GIT_(?:CONFIG|EXEC|DIR).*|XDG_CONFIG_HOME"
    r"|HOME|TAR_OPTIONS|MAKEFLAGS|MAKEFILES"
)
"""Variables by which a program that is not named may come to run."""


def hides_its_program(program: str, arguments: tuple[str, ...]) -> bool:
    """Whether a command takes the program to run, or its text, from where it does not show."""
    if _WORKED_OUT.search(arguments[0]) and program not in {"[", "[["}:
        return True
    if program in {"source", "."} or (program in SHELLS and _reads_unseen_text(arguments)):
        return True
    if program == "xargs":
        inner = [word.rsplit("/", 1)[-1] for word in arguments[1:]]
        return not _TAKES_ITS_PROGRAM_FROM_INPUT.isdisjoint(inner)
    if program == "find":
        return any("$(" in word or "`" in word for word in arguments[1:])
    if program in {"mapfile", "readarray", "bind", "compgen", "complete", "enable", "jobs", "hash"}:
        return any(word.startswith(("-C", "-x", "-f", "-F", "-p")) for word in arguments[1:])
    return False


def may_hide(refusing: Iterable[SourcedRule], line: ShellLine, revealed: Revealed) -> bool:
    """Whether what one of the rules speaks of may run without showing as a command of the line."""
    if not revealed.complete or revealed.hidden or _ODD.search(line.text):
        return True
    if any(_STEERS.fullmatch(name) for name in _set_variables(revealed)):
        return True
    told = [set(_WORD.findall(text)) for text in _told_to_programs(revealed)]
    return bool(told) and any(_is_mentioned(rule, told) for rule in refusing)


def _reads_unseen_text(arguments: tuple[str, ...]) -> bool:
    """A shell that is not given its text as an argument, nor the name of a script on disk."""
    for at, word in enumerate(arguments[1:], start=1):
        if word.startswith(("-", "+")) and len(word) > 1 and not word.startswith("--"):
            if "c" in word:
                return False
            if "s" in word:
                return True
        elif not word.startswith("--") and arguments[at - 1] not in {"-O", "-o", "+O", "+o"}:
            return _OPENED_FILE.match(word) is not None
    return True


def _set_variables(revealed: Revealed) -> Iterator[str]:
    for line in revealed.lines:
        yield from (item.name for item in line.assignments)
        yield from (item.name for command in line.commands for item in command.assignments)
        for command in line.commands:
            yield from (word.partition("=")[0] for word in command.arguments[1:] if "=" in word)


def _told_to_programs(revealed: Revealed) -> Iterator[str]:
    """Texts that a program of the line may take for commands of its own."""
    scripted = False
    for arguments in revealed.commands:
        program = arguments[0].rsplit("/", 1)[-1]
        if program == "git":
            yield from _told_to_git(arguments)
        elif _SCRIPTED.fullmatch(program):
            scripted = True
            yield from arguments[1:]
    for line in revealed.lines:
        items = (*line.assignments, *(item for command in line.commands for item in command.assignments))
        yield from (item.value.literal for item in items if item.value is not None)
        if scripted:
            yield line.text


def _told_to_git(arguments: tuple[str, ...]) -> Iterator[str]:
    if not _GIT_RUNS.isdisjoint(arguments):
        yield from arguments[1:]
        return
    for at, word in enumerate(arguments[1:], start=1):
        if _GIT_OPTIONS.match(word):
            yield from arguments[at : at + 2]


def _is_mentioned(rule: SourcedRule, told: list[set[str]]) -> bool:
    pattern = command_pattern(rule.rule.content or "")
    name = _WORD.match(pattern.pieces[0].strip())
    return any(name is None or name[0] in words for words in told)
