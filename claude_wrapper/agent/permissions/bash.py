"""The decision on shell command lines, by what they would really run."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from . import guard, hidden, matching, paths, runners, shell_rules, suggest, wording
from .call import Call, Decision
from .case import Case
from .file_commands import effects
from .ground import Ground
from .policy import Policy
from .reveal import reveal
from .rules import RuleBehavior, SourcedRule
from .shell import read_line
from .shell_parts import Obstacle, Parts, all_folders
from .touched import TouchedFiles


class BashCase(Case):
    """One command line under one policy."""

    def __init__(self, call: Call, policy: Policy) -> None:
        super().__init__(call, policy)
        self.ground = Ground(call, policy)
        self.text = call.text("command")
        self.line = read_line(self.text, policy.home)
        self.revealed = reveal(self.line, policy.home)

    def denied(self) -> Decision | None:
        rule = self._refusing("deny")
        if rule is None:
            return None
        content = rule.rule.content
        if content is not None and rule.rule.tool == "Bash" and matching.names_parameter(content, self.call):
            return Decision("deny", "rule", message=wording.parameter_denied("Bash", content), rule=rule)
        whole = self.unchecked is not None or rule.rule.content is None or self._is_spelled_out(rule)
        message = wording.command_denied(self.text)
        return Decision("deny", "rule" if whole else "subcommandResults", message=message, rule=rule)

    def asked(self) -> Decision | None:
        rule = self._refusing("ask")
        return None if rule is None else self.rule_asks(rule)

    def never_settled(self) -> Decision | None:
        removals = (
            guard.critical_removal(arguments, self.ground, self._folders)
            for arguments in self.revealed.commands
        )
        target = next((found for found in removals if found is not None), None)
        if target is None:
            return None
        return Decision(
            "ask",
            "safetyCheck",
            wording.removes_too_much(target),
            wording.removal_needs_approval(target),
            suggestions=(),
            suppress_always_allow=True,
            classifier_approvable=False,
        )

    def guarded(self) -> Decision | None:
        for path, by_redirect in self._changed_files():
            names = next(
                (names for names in self.touched.everywhere(path) if guard.protected(names)),
                None,
            )
            if names is not None:
                return self._protected(names[0], by_redirect)
        return None

    def allowed(self) -> Decision | None:
        allow = self.policy.of("allow")
        whole = matching.whole_tool(allow, self.call.tool_name)
        if whole is not None and not self._may_hide_what_is_refused():
            return Decision("allow", "rule", rule=whole)
        exact = shell_rules.allowing_whole_line(allow, self.call, self.line)
        if exact is not None:
            return Decision("allow", "rule", rule=exact)
        if self.unchecked is None and not self.obstacles:
            return Decision("allow", "subcommandResults")
        return None

    def question(self) -> Decision:
        if self.unchecked is not None:
            reason = wording.unchecked(self.unchecked)
            return Decision("ask", "other", reason, reason, suggestions=())
        if len(self.line.commands) > 1 and len(self.obstacles) > 0:
            return self._question_about_parts()
        if not self.obstacles:
            return Decision("ask", "other", wording.NOT_YET, wording.NOT_YET, self._rule_for_line())
        redirect = next((item for item in self.obstacles if item.kind == "redirect"), None)
        return self._question_about(redirect or self.obstacles[0])

    @cached_property
    def unchecked(self) -> str | None:
        """Why the line may do more than its commands show, or None."""
        if self.line.unchecked is not None:
            return self.line.unchecked
        first = [command.words[0].literal for command in self.line.commands]
        if not runners.KEYWORDS.isdisjoint(first):
            return "it could not be read with certainty"
        if not runners.HIDE_WHAT_THEY_RUN.isdisjoint(first):
            return "it runs text from elsewhere"
        changes = any(runners.changes_the_shell(command.arguments) for command in self.line.commands)
        return "it changes the shell for what follows" if changes and len(first) > 1 else None

    @cached_property
    def obstacles(self) -> list[Obstacle]:
        """What stands in the way of the line's parts."""
        return Parts(self.call, self.line, self.ground).obstacles()

    @cached_property
    def touched(self) -> TouchedFiles:
        """The files that the line names."""
        return TouchedFiles(self.revealed, self.ground, self._folders)

    @cached_property
    def _folders(self) -> tuple[str, ...]:
        return all_folders(self.revealed.commands, self.ground.cwd, self.ground.home)

    def _refusing(self, behavior: RuleBehavior) -> SourcedRule | None:
        rules = self.policy.of(behavior)
        if not rules:
            return None
        rule = matching.whole_tool(rules, self.call.tool_name)
        rule = rule or shell_rules.refusing_rule(rules, self.call, self.line, self.revealed)
        return rule or self._refusing_path(behavior)

    def _refusing_path(self, behavior: RuleBehavior) -> SourcedRule | None:
        """A rule on files that speaks of one which the line reads or changes."""
        return self.touched.refused(behavior)

    def _changed_files(self) -> Iterator[tuple[str, bool]]:
        """Files that the line writes, and whether a redirect does."""
        for arguments in self.revealed.commands:
            yield from ((path, False) for path in effects(arguments).writes)
        for redirect in self.revealed.redirects:
            if redirect.writes and redirect.target.literal != "/dev/null":
                yield redirect.target.value or redirect.target.literal, True

    def _is_spelled_out(self, rule: SourcedRule) -> bool:
        return (rule.rule.content or "").removesuffix(":*") == self.text.strip()

    def _may_hide_what_is_refused(self) -> bool:
        """Whether rules refuse some commands, and one of them may be in the line without showing."""
        rules = (*self.policy.of("deny"), *self.policy.of("ask"))
        refusing = matching.content_rules(rules, self.call.tool_name)
        if refusing and hidden.may_hide(refusing, self.line, self.revealed):
            return True
        return self.touched.may_be_others()

    def _protected(self, path: str, by_redirect: bool) -> Decision:
        reason = wording.steers_tools(path)
        suggestions = suggest.add_folder(paths.parent(path))
        if not by_redirect:
            suggestions = (*suggestions, *suggest.accept_edits(self.policy))
        return Decision(
            "ask", "safetyCheck", reason, reason, suggestions, blocked_path=path, classifier_approvable=True
        )

    def _question_about_parts(self) -> Decision:
        """The question about a line of several parts, some of which would have to be asked about."""
        after_cd = next((item for item in self.obstacles if item.kind == "after cd"), None)
        failing = [item.command for item in self.obstacles if item.command is not None]
        rules = [suggest.command_rule(command, command.raw) for command in failing]
        suggestions = (suggest.allow_rules("Bash", rules, "localSettings"),) if rules else ()
        if after_cd is not None:
            reason = wording.after_cd(_doing(after_cd))
            return Decision("ask", "other", reason, reason, suggestions)
        message = wording.parts_need_approval(list(dict.fromkeys(command.raw for command in failing)))
        return Decision("ask", "subcommandResults", message=message, suggestions=suggestions)

    def _question_about(self, obstacle: Obstacle) -> Decision:
        rules = self._rule_for_line()
        folders = ", ".join(dict.fromkeys(self.ground.within))
        path = obstacle.path
        if obstacle.kind == "pattern":
            reason = wording.pattern_in_change()
            return Decision("ask", "other", reason, reason, rules)
        if path is None:
            return Decision("ask", "other", wording.NOT_YET, wording.NOT_YET, rules)
        if obstacle.kind == "read":
            message = wording.file_read(obstacle.program, path, folders)
            reading = suggest.read_folder(path)
            return Decision(
                "ask", message=message, suggestions=(*rules, *reading) if reading else (), blocked_path=path
            )
        suggestions = (*rules, *suggest.add_folder_at(path))
        if obstacle.kind == "change":
            suggestions = (*suggestions, *suggest.accept_edits(self.policy))
        inside = self.ground.is_within((path,))
        message = wording.file_change(obstacle.program, path, folders, inside=inside)
        return Decision("ask", message=message, suggestions=suggestions, blocked_path=path)

    def _rule_for_line(self) -> suggest.Suggestions:
        if not self.line.commands:
            return ()
        command = self.line.commands[0]
        written = command.raw if self.line.redirects or len(self.line.commands) > 1 else self.text.strip()
        return (suggest.allow_rules("Bash", [suggest.command_rule(command, written)], "localSettings"),)


def _doing(obstacle: Obstacle) -> str:
    return "writes to a file" if obstacle.program == "redirection" else f"runs {obstacle.program}"
