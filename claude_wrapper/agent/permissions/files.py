"""The decision on tools that take a path: reading, searching, editing."""

from __future__ import annotations

import os
import re
from functools import cached_property

from . import guard, paths, suggest, tool_kinds, wording
from .call import Call, Decision
from .case import Case
from .ground import Ground
from .hard_links import rule_by_link
from .path_patterns import covers
from .policy import Policy
from .rules import RuleBehavior, SourcedRule

_OWN_SETTINGS = re.compile(r"/\.claude/settings(?:\.local)?\.json\Z")
_SKILL = re.compile(r"/\.claude/skills/[^/]+/")


def path_rule(
    behavior: RuleBehavior, tools: tuple[str, ...], names: tuple[str, ...], ground: Ground
) -> SourcedRule | None:
    """A rule of these path tools (Read, Edit) that speaks of a file.

    To refuse or to ask, a rule needs to speak of one of the file's names; to allow, each name needs a rule.
    """
    rules = [rule for rule in ground.policy.of(behavior) if rule.rule.content and rule.rule.tool in tools]
    speaking = (
        [next((rule for rule in rules if covers(rule, name, ground)), None) for name in names]
        if rules
        else []
    )
    if behavior == "allow" and not all(speaking):
        return None
    found = next((rule for rule in speaking if rule is not None), None)
    if found is None and rules and behavior != "allow":
        return rule_by_link(rules, names, ground)
    return found


class FileCase(Case):
    """What reading and writing have in common."""

    verb = ""

    def __init__(self, call: Call, policy: Policy) -> None:
        super().__init__(call, policy)
        self.ground = Ground(call, policy)
        self.path = call.text(self._field()) or os.fspath(call.cwd)

    def _field(self) -> str:
        raise NotImplementedError

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The file's names: as written, and where links lead."""
        return self.ground.names_of(self.path)

    @property
    def is_the_plan(self) -> bool:
        """Whether this is the file in which the session plans, while it does."""
        return self.policy.mode == "plan" and self.names == (self.policy.plan_file,)

    @property
    def is_own(self) -> bool:
        """Whether the session itself has put the file down, for the model to read."""
        return paths.all_inside(self.names, self.policy.own_folders)

    def outside(self) -> Decision | None:
        """What to say of a file that lies outside the working folders, if it does."""
        out = self.ground.leads_out(self.names)
        if out is None:
            return None
        if out == self.names[0]:
            return Decision("ask", "workingDir", wording.OUTSIDE)
        reason = wording.through_link(self.names[0], out)
        return Decision("ask", "workingDir", reason, blocked_path=out)

    def rule_of(self, behavior: RuleBehavior, *tools: str) -> SourcedRule | None:
        """The first path rule of these tools that speaks of the file."""
        return path_rule(behavior, tools, self.names, self.ground)

    def confined(self) -> Decision | None:
        """A restricted session reads and writes in its folders only."""
        if not self.policy.restricted or self.ground.is_within(self.names) or self.is_the_plan:
            return None
        if self.is_own and self.verb == "read":
            return None
        message = wording.confined(self.names[0], self.policy.original_cwd)
        return Decision("deny", "other", wording.CONFINED, message)

    def denied_path(self, rule: SourcedRule, message: str) -> Decision:
        """The file itself is refused; behind a link the refusal is a permission matter like any other."""
        written = self.names[0]
        if covers(rule, written, self.ground):
            return Decision("deny", "rule", message=message, rule=rule, as_tool_error=True)
        return Decision("deny", "rule", message=wording.path_denied(self.verb, written), rule=rule)


class ReadCase(FileCase):
    """Read, and the tools that search."""

    verb = "read"

    def __init__(self, call: Call, policy: Policy) -> None:
        super().__init__(call, policy)
        if call.tool_name == "Glob":
            self.path = _where_a_pattern_leads(self.path, call.text("pattern"))

    def _field(self) -> str:
        return tool_kinds.READ_PATH_FIELDS[self.call.tool_name]

    def denied(self) -> Decision | None:
        rule = self.rule_of("deny", "Read")
        if rule is not None:
            return self.denied_path(rule, wording.DENIED_PATH)
        return super().denied() or self.confined()

    def asked(self) -> Decision | None:
        rule = self.rule_of("ask", "Read")
        return super().asked() if rule is None else self.rule_asks(rule)

    def allowed(self) -> Decision | None:
        rule = self.rule_of("allow", "Read", "Edit")
        return super().allowed() if rule is None else Decision("allow", "rule", rule=rule)

    def harmless(self) -> Decision | None:
        free = self.is_the_plan or self.is_own or self.ground.is_within(self.names)
        return Decision("allow", "mode") if free else None

    def question(self) -> Decision:
        asked = self.outside() or Decision("ask")
        return asked.changed(
            message=wording.read_not_granted(self.names[0]), suggestions=self._readings(asked.blocked_path)
        )

    def _readings(self, target: str | None) -> suggest.Suggestions:
        """Reading where the file is named, and where a link in the way leads; not where a file is a link itself."""
        folder = suggest.folder_at(self.names[0]) if target is None else paths.parent(self.names[0])
        named = suggest.read_in(folder)
        if target is None or self.ground.is_link(self.path):
            return named
        return (*named, *suggest.read_folder(target))


class WriteCase(FileCase):
    """Write, Edit, NotebookEdit."""

    verb = "change"

    def _field(self) -> str:
        return tool_kinds.WRITE_PATH_FIELDS[self.call.tool_name]

    def denied(self) -> Decision | None:
        rule = self.rule_of("deny", "Edit")
        if rule is not None:
            return self.denied_path(rule, wording.DENIED_PATH)
        rule = None if self.call.tool_name == "NotebookEdit" else self.rule_of("deny", "Read")
        if rule is not None:
            return self.denied_path(rule, wording.UNREADABLE_SO_UNWRITABLE)
        return super().denied() or self.confined()

    def asked(self) -> Decision | None:
        rule = self.rule_of("ask", "Edit")
        return super().asked() if rule is None else self.rule_asks(rule)

    def never_settled(self) -> Decision | None:
        if not self.ground.is_link(self.path):
            return None
        message = wording.not_through_link(self.names[0], self.names[-1])
        return Decision("deny", "other", wording.WRITES_TO_LINK, message)

    def guarded(self) -> Decision | None:
        if self.is_the_plan:
            return Decision("allow", "other")
        if not guard.protected(self.names):
            return self._through_link()
        path = self.names[0]
        skill = _SKILL.search(path)
        own = _OWN_SETTINGS.search(path) is not None or skill is not None
        reason = wording.write_not_granted(path) if own else wording.steers_tools(path)
        asked = self.question().changed(
            reason_type="safetyCheck", reason=reason, message=reason, classifier_approvable=True
        )
        if skill is not None and paths.is_inside(path, self.ground.cwd):
            rule = suggest.allow_rules("Edit", [f"{skill[0]}**"], "session")
            asked = asked.changed(suggestions=(rule,))
        if not self.policy.restricted:
            return asked
        return asked.changed(suppress_always_allow=True, classifier_approvable=False)

    def _through_link(self) -> Decision | None:
        """A link leads out of the working folders: no mode and no folder that holds the link alone approves that."""
        asked = self.outside()
        if asked is None or asked.blocked_path is None or self.rule_of("allow", "Edit") is not None:
            return None
        reason = wording.link_leads_out(self.names[0], asked.blocked_path)
        folders = dict.fromkeys((paths.parent(self.names[0]), paths.parent(asked.blocked_path)))
        return Decision(
            "ask",
            "safetyCheck",
            reason,
            wording.write_not_granted(self.names[0]),
            (*suggest.accept_edits(self.policy), suggest.add_directories(*folders)),
            blocked_path=asked.blocked_path,
            suppress_always_allow=True,
            classifier_approvable=False,
        )

    def planned(self) -> Decision | None:
        return Decision("ask", "mode", message=wording.plan_mode(self.names[0]))

    def accepted(self) -> Decision | None:
        if not self.ground.is_within(self.names):
            return None
        return self.allowed() or Decision("allow", "mode")

    def allowed(self) -> Decision | None:
        rule = self.rule_of("allow", "Edit")
        return super().allowed() if rule is None else Decision("allow", "rule", rule=rule)

    def question(self) -> Decision:
        asked = self.outside()
        suggestions = suggest.accept_edits(self.policy)
        if asked is not None:
            folder = paths.parent(asked.blocked_path or self.names[0])
            suggestions = (*suggestions, *suggest.add_folder(folder))
        return (asked or Decision("ask")).changed(
            message=wording.write_not_granted(self.names[0]), suggestions=suggestions
        )


def _where_a_pattern_leads(folder: str, pattern: str) -> str:
    """The folder in which a pattern of files starts, which need not be the one it is searched from."""
    start = paths.before_glob(pattern) if paths.GLOB_CHARACTERS.intersection(pattern) else pattern
    if ".." in pattern[len(start) :].split("/"):
        return "/"
    if start.startswith(("/", "~")):
        return start
    return paths.joined(folder, start) if ".." in start.split("/") else folder
