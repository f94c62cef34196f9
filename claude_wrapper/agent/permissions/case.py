"""What each kind of tool contributes to a decision, one step at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod

from . import matching, suggest, wording
from .call import Call, Decision
from .policy import Policy
from .rules import SourcedRule
from .web_hosts import host_of


class Case(ABC):
    """A call under one policy; each step settles the call or passes it on with None.

    The steps are asked in the order in which they stand here.
    """

    def __init__(self, call: Call, policy: Policy) -> None:
        self.call = call
        self.policy = policy

    def denied(self) -> Decision | None:
        """A deny rule speaks of the call."""
        rule = matching.whole_tool(self.policy.of("deny"), self.call.tool_name)
        rule = rule or matching.matching_content(self.policy.of("deny"), self.call)
        return None if rule is None else self.refusal(rule)

    def asked(self) -> Decision | None:
        """An ask rule speaks of the call."""
        rule = matching.whole_tool(self.policy.of("ask"), self.call.tool_name)
        rule = rule or matching.matching_content(self.policy.of("ask"), self.call)
        return None if rule is None else self.rule_asks(rule)

    def never_settled(self) -> Decision | None:
        """Something about the call that no mode and no rule may approve."""
        return None

    def guarded(self) -> Decision | None:
        """Something about the call that rules do not approve, but bypassPermissions does."""
        return None

    def planned(self) -> Decision | None:
        """The call changes files and the mode is plan."""
        return None

    def accepted(self) -> Decision | None:
        """The mode is acceptEdits and covers the call."""
        return None

    def allowed(self) -> Decision | None:
        """An allow rule speaks of the call."""
        rule = matching.whole_tool(self.policy.of("allow"), self.call.tool_name)
        rule = rule or matching.matching_content(self.policy.of("allow"), self.call)
        return None if rule is None else Decision("allow", "rule", rule=rule)

    def harmless(self) -> Decision | None:
        """The call needs no approval at all."""
        return None

    @abstractmethod
    def question(self) -> Decision:
        """The question to the host."""

    def refusal(self, rule: SourcedRule) -> Decision:
        """The call is denied by a rule."""
        return Decision("deny", "rule", message=wording.use_denied(self.call.tool_name), rule=rule)

    def rule_asks(self, rule: SourcedRule) -> Decision:
        """The question that an ask rule wants to be put."""
        asked = self.question()
        return asked.changed(reason_type="rule", reason=None, suggestions=(), rule=rule)


class OtherTool(Case):
    """Tools that neither run commands nor take paths: MCP, web, agents, skills ..."""

    def harmless(self) -> Decision | None:
        if self.call.needs_permission is False:
            return Decision("allow")
        return None

    def refusal(self, rule: SourcedRule) -> Decision:
        denied = super().refusal(rule)
        if self.call.tool_name == "WebFetch" and rule.rule.content is not None:
            return denied.changed(message=wording.fetch_denied(rule.rule.content.partition(":")[2]))
        return denied

    def question(self) -> Decision:
        content = self._own_content()
        rules = suggest.allow_rules(self.call.tool_name, [content], "localSettings")
        return Decision(
            "ask",
            message=wording.use_not_granted(self.call.tool_name),
            suggestions=(rules,),
        )

    def _own_content(self) -> str | None:
        if self.call.tool_name != "WebFetch":
            return None
        host = host_of(self.call.text("url"))
        return None if host is None else f"domain:{host}"
