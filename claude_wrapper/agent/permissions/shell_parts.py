"""Each part of a shell line on its own: may it run, and if not, what stands in the way."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cached_property

from . import odd_paths, paths, suggest, wording
from .below import refuses_below
from .call import Call
from .file_commands import (
    CHANGES_FILES_ONLY,
    effects,
    is_simple_file_command,
    named_files,
    shows_whole_folders,
)
from .files import path_rule
from .ground import Ground
from .obstacle import Obstacle, Offer
from .readonly import FileUse, files_shown
from .shell_line import Command, Redirect, ShellLine
from .shell_rules import allow_patterns, hides_what_it_does, is_allowed
from .wrappers import behind_env, sets_safe_variables_only, shows_what_it_starts, unwrapped

_MOST_FOLDERS = 16
_RUN_UNSEEN_ARGUMENTS = frozenset({"xargs", "nohup"})
_TAKE_NO_OPTIONS = frozenset({"cp", "mv"})

Folders = tuple[str, ...]


class Parts:
    """The parts of a line whose commands are all there is to it."""

    def __init__(self, call: Call, line: ShellLine, ground: Ground) -> None:
        self.line = line
        self.ground = ground
        self.policy = ground.policy
        self._patterns = allow_patterns(self.policy.of("allow"), call.tool_name)

    @cached_property
    def obstacles(self) -> list[Obstacle]:
        """What stands in the way of the line; empty if every part may run."""
        overall = self._overall()
        if overall is not None:
            return [overall]
        folders: Folders = (self.ground.cwd,)
        found: list[Obstacle] = []
        for part, command in enumerate(self.line.commands):
            obstacle = self._command(part, command, folders)
            if obstacle is not None:
                found.append(obstacle)
            if obstacle is None or not _is_cd(command):
                folders = after_command(command.arguments, folders, self.ground.home)
        redirects = (self._redirect(redirect, folders) for redirect in self.line.redirects)
        found.extend(obstacle for obstacle in redirects if obstacle is not None)
        return found

    @property
    def stays_in(self) -> bool:
        """Whether no part leads to files on which rules for commands cannot decide."""
        return all(obstacle.offer in {"rule", "own rule", "nothing"} for obstacle in self.obstacles)

    @cached_property
    def moves(self) -> bool:
        """Whether some command of several changes the folder."""
        return len(self.line.commands) > 1 and any(_is_cd(command) for command in self.line.commands)

    def _overall(self) -> Obstacle | None:
        """What stands in the way of the line as a whole."""
        for part, command in enumerate(self.line.commands):
            if hides_what_it_does(command) and not is_allowed(self._patterns, command):
                reason = wording.hides_what_it_runs(command.words[0].literal)
                return Obstacle("nothing", part, command, reason=reason)
        if not self.moves:
            return None
        if sum(_is_cd(command) for command in self.line.commands) > 1:
            return Obstacle("none", reason=wording.changes_folder_often())
        if any(unwrapped(command)[-1].words[0].literal == "git" for command in self.line.commands):
            return Obstacle("none", reason=wording.changes_folder_and_git())
        return None

    def _command(self, part: int, command: Command, folders: Folders) -> Obstacle | None:
        other = Obstacle("rule", part, command, program=command.words[0].literal)
        if command.words[0].value is None:
            return other
        strays = self._straying(part, command, folders)
        if strays is not None:
            return strays
        if is_allowed(self._patterns, command) or self._only_reads(command, folders):
            return None
        if self.policy.accepts_edits and self._is_accepted(command, folders):
            return None
        return self._changing(part, command) or other

    def _straying(self, part: int, command: Command, folders: Folders) -> Obstacle | None:
        """Files that a command reads or changes where no rule on commands lets it."""
        inner = behind_env(command)
        name = inner.words[0].literal
        if self._changes(inner):
            return self._changing_astray(part, command, inner)
        shown = files_shown(inner)
        if not shown or (name == "git" and len(folders) > 1):
            return None
        whole = shows_whole_folders(inner.arguments)
        for use in shown:
            if name not in odd_paths.PATTERN_TAKERS and odd_paths.has_dollar(use.path):
                return Obstacle("none", part, command, use.path, reason=odd_paths.DOLLAR)
        unreadable = [
            (use, path)
            for use in shown
            for folder in folders
            if (path := self._unreadable(use, folder, whole=whole)) is not None
        ]
        if unreadable:
            use, path = unreadable[0]
            opened = suggest.folder_at(path)
            several = any(not paths.is_inside(other, opened) for _, other in unreadable)
            vague = several or odd_paths.turns_back(use.path)
            return Obstacle("none" if vague else "read", part, command, path, program=name)
        turned = next((use.path for use in shown if odd_paths.turns_back(use.path)), None)
        if turned is None:
            return None
        return Obstacle("none", part, command, turned, reason=odd_paths.TURNS_BACK)

    def _changes(self, inner: Command) -> bool:
        """Whether a command is one of those that change files and do nothing else."""
        name = inner.words[0].literal
        return name in CHANGES_FILES_ONLY and files_shown(inner) is None

    def _changing_astray(self, part: int, command: Command, inner: Command) -> Obstacle | None:
        name = inner.words[0].literal
        touched = named_files(inner)
        if not touched:
            return None
        if name in _TAKE_NO_OPTIONS and any(word.literal.startswith("-") for word in inner.words[1:]):
            if len(inner.words) > 1 and inner.words[1].literal == "--":
                return None
            return Obstacle("mode", part, command, program=name, reason=wording.copies_with_options(name))
        if self.moves:
            return Obstacle("mode", part, command, program=name, reason=wording.after_cd(f"runs {name}"))
        for path in touched:
            reason = odd_paths.why_odd(path)
            if reason == odd_paths.TURNS_BACK and self.ground.leads_out(self.ground.names_of(path)):
                reason = None
            if reason is not None:
                folder = suggest.folder_at(
                    paths.absolute(paths.before_glob(path), self.ground.cwd, self.ground.home)
                )
                return Obstacle("change", part, command, path, folder=folder, program=name, reason=reason)
            names = self.ground.removed_names(path) if name == "rm" else self.ground.names_of(path)
            out = self.ground.leads_out(names)
            if out is not None and path_rule("allow", ("Edit",), names, self.ground) is None:
                told = path if path == f"{out}/" else out
                return Obstacle("change", part, command, told, folder=suggest.folder_at(told), program=name)
        return None

    def _only_reads(self, command: Command, folders: Folders) -> bool:
        """Whether a command only shows files, all of which may be read."""
        if not sets_safe_variables_only(command.assignments):
            return False
        chain = unwrapped(command)
        hiding = next(
            (at for at, inner in enumerate(chain) if inner.words[0].literal in _RUN_UNSEEN_ARGUMENTS),
            len(chain),
        )
        for inner in chain[: hiding + 1]:
            shown = files_shown(inner)
            if shown is None and not shows_what_it_starts(inner):
                return False
            if shown is None or (inner.words[0].literal == "git" and len(folders) > 1):
                continue
            if odd_paths.may_be_filled_in(inner.words):
                return False
            whole = shows_whole_folders(inner.arguments)
            return all(
                self._unreadable(use, folder, whole=whole) is None for use in shown for folder in folders
            )
        return False

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
        if len(folders) > 1 or command.assignments or not is_simple_file_command(command):
            return False
        fills = effects(command.arguments).fills
        if any(refuses_below(self.ground.names_of(path)[-1], "Edit", self.ground) for path in fills):
            return False
        return all(self.ground.is_within(self.ground.names_of(path)) for path in named_files(command))

    def _changing(self, part: int, command: Command) -> Obstacle | None:
        """What to say about a command that changes files inside, if it is one and that is what it is asked for."""
        inner = behind_env(command)
        name = inner.words[0].literal
        touched = named_files(inner) if self._changes(inner) else ()
        if not touched:
            return Obstacle("own rule", part, command, program=name) if name == "sed" else None
        if self.policy.accepts_edits:
            return Obstacle("own rule", part, command, program=name) if name == "sed" else None
        names = self.ground.removed_names(touched[0]) if name == "rm" else self.ground.names_of(touched[0])
        return Obstacle("change", part, command, names[0], folder=suggest.folder_at(names[0]), program=name)

    def _redirect(self, redirect: Redirect, folders: Folders) -> Obstacle | None:
        target = redirect.target.value
        command = self.line.commands[redirect.part] if self.line.commands else None
        if target == "/dev/null":
            return None
        if target is None or redirect.target.is_glob or _is_left_to_the_shell(redirect):
            is_variable = "$" in redirect.target.raw
            path = None if redirect.writes or is_variable else redirect.target.literal
            offer: Offer = "nothing" if is_variable else "none"
            return Obstacle(offer, redirect.part, command, path, reason=odd_paths.EXPANDED)
        if not redirect.writes:
            unreadable = (self._unreadable(FileUse(target), folder) for folder in folders)
            path = next((path for path in unreadable if path is not None), None)
            if path is None and odd_paths.turns_back(target):
                return Obstacle("none", redirect.part, command, target, reason=odd_paths.TURNS_BACK)
            return None if path is None else Obstacle("read", redirect.part, command, path)
        if self.moves:
            return Obstacle("none", redirect.part, command, reason=wording.after_cd("writes to a file"))
        reason = odd_paths.why_odd(target)
        names = self.ground.names_of(target)
        outside = self.ground.leads_out(names)
        if reason is None and path_rule("allow", ("Edit",), names, self.ground) is not None:
            return None
        if reason is None and outside is None and self.policy.accepts_edits:
            return None if command else Obstacle("rule", redirect.part)
        told = target if reason is not None else outside or names[0]
        folder = suggest.folder_at(outside or names[0])
        return Obstacle("redirect", redirect.part, command, told, folder=folder, reason=reason)


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


def _is_cd(command: Command) -> bool:
    """Whether the command changes the folder, other than to where it is."""
    return command.words[0].value == "cd" and [word.literal for word in command.words[1:]] != ["."]


def _is_left_to_the_shell(redirect: Redirect) -> bool:
    """Whether the name of a file to write begins with something that stands for a folder."""
    return redirect.target.raw.startswith(("~", "$") if redirect.writes else "$")
