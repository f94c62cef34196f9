"""The decision on shell command lines, by what they would really run."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from . import guard, hidden, matching, paths, runners, shell_rules, suggest, wording
from .call import Call, Decision
from .case import Case
from .file_commands import effects
from .ground import Ground
from .links import LinkOut, links_out
from .obstacle import Obstacle
from .policy import Policy
from .reveal import reveal
from .rules import RuleBehavior, SourcedRule
from .shell import read_line
from .shell_line import Redirect
from .shell_parts import Parts, all_folders
from .shell_question import LineQuestion
from .touched import TouchedFiles, quoted_names


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
        link = links_out(self.line, self.ground, self._folders)
        if link is not None and not link.is_removed:
            return self._through_link(link)
        for path, redirect in self._changed_files():
            names = next((names for names in self.touched.everywhere(path) if guard.protected(names)), None)
            if names is not None:
                return self._protected(names[0], redirect)
        return None if link is None else self._through_link(link)

    def allowed(self) -> Decision | None:
        if self.line.only_behind and not self.obstacles:
            return self._behind()
        whole = self._whole_rule()
        if whole is not None and not self._may_hide_what_is_refused():
            return Decision("allow", "rule", rule=whole)
        exact = shell_rules.allowing_whole_line(self.policy.of("allow"), self.call, self.line)
        if exact is not None and self._may_be_named():
            return self._behind() if self.line.runs_behind else Decision("allow", "rule", rule=exact)
        if self.unchecked is None and not self.obstacles:
            return Decision("allow", "subcommandResults")
        return None

    def question(self) -> Decision:
        if self._unreadable is not None and not self.line.only_behind:
            reason = wording.unchecked(self._unreadable)
            return Decision("ask", "other", reason, reason, None if self.line.only_grouped else ())
        if not self.obstacles:
            return Decision("ask", "other", wording.NOT_YET, wording.NOT_YET, self._rule_for_line())
        return LineQuestion(self.line, self.ground, self.obstacles).decision()

    @cached_property
    def unchecked(self) -> str | None:
        """Why the line may do more than its commands show, or None."""
        if self._unreadable is not None:
            return self._unreadable
        changes = any(runners.changes_the_shell(command.arguments) for command in self.line.commands)
        several = len(self.line.commands) > 1
        return "it changes the shell for what follows" if changes and several else None

    @cached_property
    def _unreadable(self) -> str | None:
        """Why the commands of the line do not show at all what it would do."""
        if self.line.unchecked is not None:
            return self.line.unchecked
        first = [command.words[0].literal for command in self.line.commands]
        if not runners.KEYWORDS.isdisjoint(first):
            return "it could not be read with certainty"
        if not runners.HIDE_WHAT_THEY_RUN.isdisjoint(first):
            return "it runs text from elsewhere"
        return None

    @property
    def obstacles(self) -> list[Obstacle]:
        """What stands in the way of the line's parts."""
        return self._parts.obstacles

    @cached_property
    def _parts(self) -> Parts:
        return Parts(self.call, self.line, self.ground)

    @cached_property
    def touched(self) -> TouchedFiles:
        """The files that the line names."""
        certain = self.unchecked is None and len(self.revealed.lines) == 1 and not self.revealed.hidden
        quoted = quoted_names(self.line) if certain and not self.line.redirects else frozenset[str]()
        return TouchedFiles(self.revealed, self.ground, self._folders, quoted)

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

    def _changed_files(self) -> Iterator[tuple[str, Redirect | None]]:
        """Files that the line writes, and the redirect that does."""
        for arguments in self.revealed.commands:
            yield from ((path, None) for path in effects(arguments).writes)
        for redirect in self.revealed.redirects:
            if redirect.writes and redirect.target.literal != "/dev/null":
                yield redirect.target.value or redirect.target.literal, redirect

    def _whole_rule(self) -> SourcedRule | None:
        return matching.whole_tool(self.policy.of("allow"), self.call.tool_name)

    def _may_be_named(self) -> bool:
        """Whether a rule that spells out the line settles it: not where files decide that no rule names."""
        if self.line.only_grouped:
            return False
        return self._unreadable is not None or self._parts.stays_in

    def _behind(self) -> Decision | None:
        if self.policy.mode == "auto":
            return None
        reason = wording.left_behind()
        return Decision(
            "ask", "safetyCheck", reason, reason, suppress_always_allow=True, classifier_approvable=False
        )

    def _through_link(self, link: LinkOut) -> Decision:
        if self._parts.moves:
            return self.question()
        edits = () if link.by_redirect else suggest.accept_edits(self.policy)
        if link.is_removed:
            path, reason = paths.parent(link.written), wording.removes_link(link.written)
        else:
            path, reason = link.target, wording.link_leads_out(link.written, link.target)
        folder = suggest.add_directories(suggest.folder_at(path))
        return Decision(
            "ask",
            "safetyCheck",
            reason,
            reason,
            (folder, *edits),
            blocked_path=path,
            suppress_always_allow=not link.is_removed,
            classifier_approvable=link.is_removed,
        )

    def _is_spelled_out(self, rule: SourcedRule) -> bool:
        return (rule.rule.content or "").removesuffix(":*") == self.text.strip()

    def _may_hide_what_is_refused(self) -> bool:
        """Whether rules refuse some commands, and one of them may be in the line without showing."""
        rules = (*self.policy.of("deny"), *self.policy.of("ask"))
        refusing = matching.content_rules(rules, self.call.tool_name)
        if refusing and hidden.may_hide(refusing, self.line, self.revealed):
            return True
        return self.touched.may_be_others()

    def _protected(self, path: str, redirect: Redirect | None) -> Decision:
        reason = wording.steers_tools(path)
        readable = self._unreadable is None or self.line.only_behind
        if readable and redirect is None and self._parts.moves:
            return self.question()
        suggestions: suggest.Suggestions | None = suggest.add_folder(suggest.folder_at(path))
        blocked: str | None = path
        if redirect is None:
            suggestions = (*(suggestions or ()), *suggest.accept_edits(self.policy))
        elif redirect.target.raw.startswith("~"):
            suggestions, blocked = None, None
        asked = Decision(
            "ask",
            "safetyCheck",
            reason,
            reason,
            suggestions,
            blocked_path=blocked,
            classifier_approvable=True,
        )
        if not readable or self._whole_rule() is not None:
            return asked
        together = asked.changed(reason_type="subcommandResults", blocked_path=None)
        if len({obstacle.part for obstacle in self.obstacles}) > 1:
            return together.changed(suggestions=())
        return together if redirect is None and self.line.commands[-1].segment else asked

    def _rule_for_line(self) -> suggest.Suggestions:
        if not self.line.commands:
            return ()
        content = suggest.command_rule(self.line.commands[0])
        return () if content is None else (suggest.allow_rules("Bash", [content], "localSettings"),)
