"""The files that a line reads and changes, for rules that refuse some files."""

from __future__ import annotations

import glob
from collections.abc import Iterator
from itertools import islice

from . import paths
from .below import refuses_below
from .file_commands import effects, is_recognised, shows_whole_folders
from .files import path_rule
from .ground import Ground
from .reveal import Arguments, Revealed
from .rules import RuleBehavior, SourcedRule
from .shell_line import ShellLine

_MOST_MATCHES = 500
_TAKE_NAMES = frozenset(
    {"cat", "cp", "head", "ls", "mv", "nl", "rm", "sort", "stat", "tac", "tail", "touch", "wc"}
)
_REFUSING: tuple[RuleBehavior, ...] = ("deny", "ask")


class TouchedFiles:
    """What is known of the files of one line; `folders` are those in which its commands may run.

    `as_written` are names that look like patterns and are none.
    """

    def __init__(
        self,
        revealed: Revealed,
        ground: Ground,
        folders: tuple[str, ...],
        as_written: frozenset[str] = frozenset(),
    ) -> None:
        self._as_written = as_written
        self._revealed = revealed
        self._ground = ground
        self._folders = folders

    def refused(self, behavior: RuleBehavior) -> SourcedRule | None:
        """A rule that speaks of a file which the line reads or changes."""
        if not self._has_rules((behavior,)):
            return None
        for path, writes in self._named():
            wanted = ("Edit",) if writes else ("Read",)
            for names in self.everywhere(path):
                rule = path_rule(behavior, wanted, names, self._ground)
                if rule is not None:
                    return rule
        return None

    def may_be_others(self) -> bool:
        """Whether rules refuse some files, and the line may work on one of those without naming it."""
        if not self._has_rules(_REFUSING):
            return False
        if self._revealed.hidden or any(
            _is_worked_out(redirect.target.literal) for redirect in self._revealed.redirects
        ):
            return True
        return any(self._takes_unnamed(arguments) for arguments in self._revealed.commands)

    def everywhere(self, path: str) -> Iterator[tuple[str, ...]]:
        """The names of the file in each folder where a command may look for it."""
        for variable in ("HOME", "PWD"):
            for written in (f"${variable}/", f"${{{variable}}}/"):
                if path.startswith(written):
                    path = ("~/" if variable == "HOME" else "./") + path[len(written) :]
        for folder in self._folders:
            yield self._ground.names_of(path, folder)
            if paths.GLOB_CHARACTERS.intersection(path) and path not in self._as_written:
                found = islice(glob.iglob(path, root_dir=folder), _MOST_MATCHES)  # noqa: PTH207 - paths are texts here
                yield from (self._ground.names_of(match, folder) for match in found)

    def _named(self) -> Iterator[tuple[str, bool]]:
        for arguments in self._revealed.commands:
            done = effects(arguments)
            yield from ((path, False) for path in done.reads)
            yield from ((path, True) for path in done.writes)
        for redirect in self._revealed.redirects:
            yield redirect.target.value or redirect.target.literal, redirect.writes

    def _takes_unnamed(self, arguments: Arguments) -> bool:
        program = arguments[0].rsplit("/", 1)[-1]
        if program == "xargs":
            return any(is_recognised(word.rsplit("/", 1)[-1]) for word in arguments[1:])
        if not is_recognised(program):
            return False
        if program == "git" and "grep" in arguments:
            arguments = (*arguments, ".")
        done = effects(arguments)
        if any(_is_worked_out(path) for path in (*done.reads, *done.writes)):
            return True
        below = [(path, "Read") for path in done.reads if shows_whole_folders(arguments)]
        below += [(path, "Edit") for path in done.fills]
        folders = ((names[-1], tool) for path, tool in below for names in self.everywhere(path))
        return any(
            paths.is_folder(name) and refuses_below(name, tool, self._ground) for name, tool in folders
        )

    def _has_rules(self, behaviors: tuple[RuleBehavior, ...]) -> bool:
        rules = (rule.rule for behavior in behaviors for rule in self._ground.policy.of(behavior))
        return any(rule.tool in {"Read", "Edit"} and rule.content is not None for rule in rules)


def quoted_names(line: ShellLine) -> frozenset[str]:
    """Names in quotes that are given to programs which take them for what they are."""
    words = [(command.words[0].literal, word) for command in line.commands for word in command.words[1:]]
    plain = {word.literal for program, word in words if program in _TAKE_NAMES and not word.is_glob}
    return frozenset(
        plain - {word.literal for program, word in words if program not in _TAKE_NAMES or word.is_glob}
    )


def _is_worked_out(path: str) -> bool:
    """Whether the path is only known when the line runs."""
    return "$" in path.removeprefix("$HOME").removeprefix("$PWD") or "`" in path or path == "{}"
