"""The permission decision: every step in its order, for every tool."""

from __future__ import annotations

from dataclasses import replace

from . import paths, tool_kinds, wording
from .auto import narrow_rules
from .bash import BashCase
from .call import Call, Decision
from .case import Case, OtherTool
from .files import FileCase, ReadCase, WriteCase
from .policy import Policy

_DESCRIPTION_LENGTH = 50


def decide(call: Call, policy: Policy) -> Decision:
    """Say whether a call may run: deny, then ask, then the mode, then allow, then what needs no approval."""
    if policy.mode == "auto":
        policy = policy.changed(rules=narrow_rules(policy.rules))
    case = case_of(call, policy)
    decision = _settled(case)
    if decision is None:
        decision = case.question()
        if policy.mode == "auto":
            decision = decision.changed(checked_by_model=True)
    elif policy.mode == "auto" and decision.reason_type == "subcommandResults":
        decision = _by_mode(decision, case, policy)
    if decision.behavior == "ask":
        decision = _for_host(decision, case.call, policy)
    return decision


def denied_path(call: Call, policy: Policy) -> Decision | None:
    """What refuses a call of a tool that takes a path, before anybody looks at what lies there."""
    case = case_of(call, policy)
    return case.denied() if isinstance(case, FileCase) else None


def _settled(case: Case) -> Decision | None:
    decision = case.denied() or _for_a_person(case) or case.asked() or case.never_settled()
    if decision is not None:
        return decision
    if case.policy.mode == "bypassPermissions":
        return Decision("allow", "mode")
    decision = case.guarded()
    if decision is not None and case.policy.mode == "auto" and decision.behavior == "ask":
        return decision.changed(checked_by_model=True)
    if decision is None and case.policy.mode == "plan":
        decision = case.planned()
    if decision is None and case.policy.accepts_edits:
        decision = case.accepted()
    return decision or case.allowed() or case.harmless()


def _by_mode(decision: Decision, case: Case, policy: Policy) -> Decision:
    """A permission that is owed to the mode, told as such: without it the call would be asked about."""
    if decision.behavior != "allow" or _settled(case_of(case.call, policy.changed(mode="default"))):
        return decision
    return decision.changed(reason_type="mode")


def _canonical(call: Call) -> Call:
    name = tool_kinds.canonical_name(call.tool_name)
    needs = call.needs_permission
    if needs is None:
        needs = name not in tool_kinds.CHANGES_NOTHING_OUTSIDE
    person = call.requires_interaction or name in tool_kinds.ONLY_A_PERSON_ANSWERS
    return replace(call, tool_name=name, needs_permission=needs, requires_interaction=person)


def case_of(call: Call, policy: Policy) -> Case:
    """What decides on a call of this tool."""
    call = _canonical(call)
    if call.tool_name == "Bash":
        return BashCase(call, policy)
    if call.tool_name in tool_kinds.READ_PATH_FIELDS:
        return ReadCase(call, policy)
    if call.tool_name in tool_kinds.WRITE_PATH_FIELDS:
        return WriteCase(call, policy)
    return OtherTool(call, policy)


def _for_a_person(case: Case) -> Decision | None:
    if not case.call.requires_interaction:
        return None
    built_in = case.call.tool_name in tool_kinds.ONLY_A_PERSON_ANSWERS
    return Decision(
        "ask",
        message=wording.needs_a_person(case.call.tool_name),
        suggestions=None,
        requires_interaction=True,
        suppress_always_allow=not built_in,
    )


def _for_host(decision: Decision, call: Call, policy: Policy) -> Decision:
    """A question as it leaves: with a description, or turned into a refusal where nobody is ever asked."""
    if policy.mode == "dontAsk":
        return Decision("deny", "mode", message=wording.never_asks(call.tool_name))
    return decision.changed(description=_description(call, policy))


def _description(call: Call, policy: Policy) -> str | None:
    """A few words for the user on what the call is about."""
    name = call.tool_name
    field = tool_kinds.DESCRIBING_FIELDS.get(name)
    if name == "Bash":
        return call.text("description") or _cut(call.text("command")) or None
    if field is not None:
        return call.text(field) or None
    path_field = tool_kinds.READ_PATH_FIELDS.get(name) or tool_kinds.WRITE_PATH_FIELDS.get(name)
    if path_field is None or not call.text(path_field):
        return None
    return paths.shown(call.text(path_field), paths.complete(call.cwd), policy.home)


def _cut(command: str) -> str:
    """A command as it fits into a line of a question."""
    return command if len(command) <= _DESCRIPTION_LENGTH else command[: _DESCRIPTION_LENGTH - 1] + "…"
