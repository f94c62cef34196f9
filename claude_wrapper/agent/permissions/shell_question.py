"""The question about a shell line: what the host is told of it, and what it may answer for lines like it."""

from __future__ import annotations

from collections.abc import Iterable

from claude_wrapper.wire.permissions import PermissionUpdateBody

from . import suggest, wording
from .call import Decision
from .ground import Ground
from .obstacle import Obstacle
from .shell_line import ShellLine
from .suggest import Suggestions

_MOST_RULES = 5
_RANKS = {"redirect": 0, "rule": 2}
"""Which obstacle of a part is told of first."""


class LineQuestion:
    """How to ask about a line of which every command is known."""

    def __init__(self, line: ShellLine, ground: Ground, obstacles: list[Obstacle]) -> None:
        self._line = line
        self._ground = ground
        self._obstacles = obstacles
        self._piped = bool(line.commands) and line.commands[-1].segment > 0
        # A line that leaves commands running gets no rules of its own: they would not cover it.
        self._no_rules = line.runs_behind

    def decision(self) -> Decision:
        """The question, for a line that has at least one obstacle."""
        by_part: dict[int, Obstacle] = {}
        for obstacle in sorted(self._obstacles, key=lambda item: _RANKS.get(item.offer, 1)):
            by_part.setdefault(obstacle.part, obstacle)
        failing = [by_part[part] for part in sorted(by_part)]
        whole = next((item for item in self._obstacles if item.offer == "nothing"), None)
        if whole is not None:
            return self._about(whole)
        if len(failing) == 1 and not self._is_shared(failing[0]):
            return self._about(failing[0])
        return Decision(
            "ask",
            "subcommandResults",
            message=wording.parts_need_approval(self._told(failing)),
            suggestions=self._together(failing),
        )

    def _is_shared(self, only: Obstacle) -> bool:
        """Whether a single failing part is still told as one part among others."""
        if only.offer == "rule":
            return len(self._line.commands) > 1
        return self._piped and only.program != "redirection"

    def _told(self, failing: Iterable[Obstacle]) -> list[str]:
        return list(dict.fromkeys(item.command.raw for item in failing if item.command is not None))

    def _about(self, obstacle: Obstacle) -> Decision:
        """The question about one obstacle alone."""
        suggestions = self._alone(obstacle)
        if obstacle.reason is not None:
            return Decision(
                "ask", "other", obstacle.reason, obstacle.reason, suggestions, blocked_path=obstacle.path
            )
        if obstacle.path is None:
            return Decision("ask", "other", wording.NOT_YET, wording.NOT_YET, suggestions)
        folders = ", ".join(dict.fromkeys(self._ground.within))
        if obstacle.folder:
            inside = self._ground.is_within(self._ground.names_of(obstacle.path))
            message = wording.file_change(obstacle.program, obstacle.path, folders, inside=inside)
        else:
            message = wording.file_read(obstacle.program, obstacle.path, folders)
        return Decision("ask", message=message, suggestions=suggestions, blocked_path=obstacle.path)

    def _alone(self, obstacle: Obstacle) -> Suggestions | None:
        """What may be answered if nothing else stands in the way."""
        if obstacle.offer == "nothing":
            return ()
        if obstacle.offer in {"none", "own rule"}:
            return None
        if obstacle.offer == "rule":
            content = self._rule(obstacle)
            return None if content is None or self._no_rules else (_rules([content]),)
        line = _rules([suggest.line_rule(self._line.text)])
        if obstacle.offer == "read":
            reading = suggest.read_folder(obstacle.path or "/")
            if self._no_rules:
                return None
            return (line, *reading) if reading else ()
        edits = suggest.accept_edits(self._ground.policy)
        if obstacle.offer == "mode":
            return (line, *edits) if edits else ()
        folder = suggest.add_directories(obstacle.folder)
        return (line, folder) if obstacle.offer == "redirect" else (line, folder, *edits)

    def _rule(self, obstacle: Obstacle) -> str | None:
        command = obstacle.command
        if command is None:
            return " ".join(self._line.text.split()[:2]) + " *"
        if len(self._line.commands) == 1 and "<<" in self._line.text:
            return suggest.rule_before_document(self._line.text) or suggest.command_rule(command)
        return suggest.command_rule(command)

    def _together(self, failing: list[Obstacle]) -> Suggestions | None:
        """What may be answered about several parts at once; None if one of them allows no answer of the kind."""
        if self._no_rules:
            return None
        segments: dict[int, list[Obstacle]] = {}
        for item in failing:
            segment = item.command.segment if item.command is not None else 0
            segments.setdefault(segment, []).append(item)
        found: list[Suggestions | None] = [self._of_segment(items) for items in segments.values()]
        if any(each is None for each in found) or any(
            item.program == "redirection" or (self._piped and item.offer == "own rule") for item in failing
        ):
            return None
        every = [update for each in found for update in each or ()]
        unique = [update for at, update in enumerate(every) if update not in every[:at]]
        return tuple(unique) or None

    def _of_segment(self, failing: list[Obstacle]) -> Suggestions | None:
        if len(failing) == 1:
            return self._alone(failing[0])
        rules: dict[tuple[str, str], None] = {}
        for item in failing:
            rule = self._merged(item)
            if rule is None:
                return None
            rules[rule] = None
        if len(rules) > _MOST_RULES:
            return None
        return (suggest.allow_tools(list(rules), "localSettings"),)

    def _merged(self, item: Obstacle) -> tuple[str, str] | None:
        """The one rule that stands for a part among others."""
        if item.offer == "read":
            content = suggest.reading_rule(item.path or "/")
            return None if content is None else ("Read", content)
        inside = item.offer == "change" and item.reason is None and item.path is not None
        if inside and not self._ground.is_within(self._ground.names_of(item.path or "")):
            return None
        if not inside and item.offer not in {"rule", "own rule"}:
            return None
        rule = None if item.command is None else suggest.command_rule(item.command)
        return None if rule is None else ("Bash", rule)


def _rules(contents: list[str]) -> PermissionUpdateBody:
    return suggest.allow_rules("Bash", contents, "localSettings")
