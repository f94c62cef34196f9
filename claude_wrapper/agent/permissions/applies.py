"""Whether one rule speaks of a call, for those who use rules as conditions and not as permissions."""

from __future__ import annotations

from .bash import BashCase
from .call import Call
from .decide import case_of
from .policy import Policy
from .rules import Rule, SourcedRule, parse_rule


def speaks_of(text: str, call: Call, policy: Policy) -> bool:
    """Whether the rule speaks of the call or of any part of it.

    A rule that cannot be read, and a command line that cannot, count as spoken of: what hangs on the
    condition is then done rather than left out.
    """
    rule = parse_rule(text)
    if not isinstance(rule, Rule):
        return True
    alone = policy.changed(mode="default", rules=(SourcedRule(rule, "ask"),))
    case = case_of(call, alone)
    if case.asked() is not None:
        return True
    return isinstance(case, BashCase) and rule.tool == "Bash" and not case.revealed.complete
