"""Each part of a shell line on its own: may it run, and if not, what stands in the way."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from . import paths
from .below import refuses_below
from .call import Call
from .file_commands import CHANGES_FILES_ONLY, effects, is_simple_file_command, shows_whole_folders
from .files import path_rule
from .ground import Ground
from .readonly import FileUse, files_shown
from .shell_line import Command, Redirect, ShellLine
from .shell_rules import allow_patterns, is_allowed
from .wrappers import sets_safe_variables_only, unwrapped

_MOST_FOLDERS = 16
_RUN_UNSEEN_ARGUMENTS = frozenset({"xargs", "nohup"})

Kind = Literal["change", "read", "redirect", "pattern", "after cd", "other"]
Folders = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a part of a line may not run without being asked about."""

    kind: Kind
    path: str | None = None
    program: str = ""
    command: Command | None = None


class Parts:
    """The parts of a line whose commands are all there is to it."""

    def __init__(self, call: Call, line: ShellLine, ground: Ground) -> None:
        self.line = line
        self.ground = ground
        self.policy = ground.policy
        self._patterns = allow_patterns(self.policy.of("allow"), call.tool_name)

    def obstacles(self) -> list[Obstacle]:
        """What stands in the way of the line; empty if every part may run."""
        folders: Folders = (self.ground.cwd,)
        found: list[Obstacle] = []
        for command in self.line.commands:
            obstacle = self._command(command, folders)
            if obstacle is not None:
                found.append(obstacle)
            folders = after_command(command.arguments, folders, self.ground.home)
        redirects = (self._redirect(redirect, folders) for redirect in self.line.redirects)
        found.extend(obstacle for obstacle in redirects if obstacle is not None)
        return found

    def _command(self, command: Command, folders: Folders) -> Obstacle | None:
        name = command.words[0].literal
        if command.words[0].value is None:
            return Obstacle("other", program=name, command=command)
        if is_allowed(self._patterns, command):
            return None
        reading = self._reading(command, folders)
        if reading is None:
            return None
        if self.policy.accepts_edits and self._is_accepted(command, folders):
            return None
        return self._changing(command, folders) or reading

    def _reading(self, command: Command, folders: Folders) -> Obstacle | None:
        """None for a command that only shows files which may be read."""
        other = Obstacle("other", program=command.words[0].literal, command=command)
        if not sets_safe_variables_only(command.assignments):
            return other
        chain = unwrapped(command)
        hiding = next(
            (at for at, inner in enumerate(chain) if inner.words[0].literal in _RUN_UNSEEN_ARGUMENTS),
            len(chain),
        )
        for inner in chain[: hiding + 1]:
            shown = files_shown(inner)
            if shown is None or (inner.words[0].literal == "git" and len(folders) > 1):
                continue
            whole = shows_whole_folders(inner.arguments)
            unreadable = (self._unreadable(use, folder, whole=whole) for use in shown for folder in folders)
            path = next((path for path in unreadable if path is not None), None)
            return None if path is None else Obstacle("read", path, inner.words[0].literal, command)
        return other

    def _unreadable(self, use: FileUse, folder: str, *, whole: bool = False) -> str | None:
        """The path, if it may not be read without asking."""
        names = self.ground.names_of(use.path, folder)
        if self._some_files_are_refused() and (use.is_glob or (whole and self._shows_refused(names))):
            return names[0]
        if self.ground.is_within(names) or path_rule("allow", ("Read", "Edit"), names, self.ground):
            return None
        return self.ground.leads_out(names)

    def _shows_refused(self, names: tuple[str, ...]) -> bool:
        """Whether the folder, if it is one, holds files that rules refuse."""
        return paths.is_folder(names[-1]) and refuses_below(names[-1], "Read", self.ground)

    def _some_files_are_refused(self) -> bool:
        refusing = (*self.policy.of("deny"), *self.policy.of("ask"))
        return any(rule.rule.tool == "Read" and rule.rule.content is not None for rule in refusing)

    def _is_accepted(self, command: Command, folders: Folders) -> bool:
        """Whether acceptEdits covers the command."""
        chain = unwrapped(command)
        if len(folders) > 1 or not sets_safe_variables_only(command.assignments):
            return False
        if any(inner.words[0].literal in _RUN_UNSEEN_ARGUMENTS for inner in chain[:-1]):
            return False
        if not is_simple_file_command(chain[-1]):
            return False
        fills = effects(chain[-1].arguments).fills
        if any(refuses_below(self.ground.names_of(path)[-1], "Edit", self.ground) for path in fills):
            return False
        return all(self.ground.is_within(self.ground.names_of(path)) for path in _touched(chain[-1]))

    def _changing(self, command: Command, folders: Folders) -> Obstacle | None:
        """What to say about a command that changes files, if it is one and that is what it is asked for."""
        inner = unwrapped(command)[-1]
        changed = effects(inner.arguments).writes
        name = inner.words[0].literal
        if not changed or name not in CHANGES_FILES_ONLY:
            return None
        if len(folders) > 1:
            return Obstacle("after cd", program=name, command=command)
        if any(word.is_glob for word in inner.words[1:]):
            return Obstacle("pattern", program=name, command=command)
        touched = [self.ground.names_of(path) for path in _touched(inner)]
        outside = (self.ground.leads_out(names) for names in touched)
        path = next((name for name in outside if name is not None), None)
        if path is None and self.policy.accepts_edits:
            return None
        return Obstacle("change", path or touched[0][0], name, command)

    def _redirect(self, redirect: Redirect, folders: Folders) -> Obstacle | None:
        target = redirect.target.value
        command = self.line.commands[0] if self.line.commands else None
        if target == "/dev/null":
            return None
        if target is None or redirect.target.is_glob or not target:
            return Obstacle("pattern", program="redirection", command=command)
        if not redirect.writes:
            unreadable = (self._unreadable(FileUse(target), folder) for folder in folders)
            path = next((path for path in unreadable if path is not None), None)
            return None if path is None else Obstacle("read", path, "redirection", command)
        if len(folders) > 1:
            return Obstacle("after cd", program="redirection", command=command)
        names = self.ground.names_of(target)
        outside = self.ground.leads_out(names)
        if path_rule("allow", ("Edit",), names, self.ground) is not None:
            return None
        if outside is None and self.policy.accepts_edits:
            return None
        return Obstacle("redirect", outside or names[0], "redirection", command)


def after_command(arguments: tuple[str, ...], folders: Folders, home: str) -> Folders:
    """The folders in which the next command may run: those of before, as `cd` may fail, and the new ones."""
    words = [word for word in arguments if word not in {"command", "builtin", "--"}]
    if not words or words[0] not in {"cd", "pushd"}:
        return folders
    target = next((word for word in words[1:] if not word.startswith("-")), home)
    reached = (paths.absolute(target, folder, home) for folder in folders)
    return tuple(dict.fromkeys((*folders, *reached)))[:_MOST_FOLDERS]


def all_folders(commands: Iterable[tuple[str, ...]], start: str, home: str) -> Folders:
    """Every folder in which some command of a line may run."""
    folders: Folders = (os.path.normpath(start),)
    for arguments in commands:
        folders = after_command(arguments, folders, home)
    return folders


def _touched(command: Command) -> tuple[str, ...]:
    """The files that a command reads or changes; in a folder that is copied to, what would be written there."""
    done = effects(tuple(word.value or word.literal for word in command.words))
    copies = done.reads if command.words[0].literal == "cp" else ()
    into = (paths.joined(folder, paths.last_part(file)) for folder in done.writes for file in copies)
    return tuple(dict.fromkeys((*done.reads, *done.writes, *into)))
