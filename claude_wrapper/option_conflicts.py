"""Whether the options fit together, and whether what they register can ever be called."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from typing import Any

from .approval import CanUseToolShadowedWarning
from .hook_matchers import HOOK_EVENTS, HookMatcher
from .option_servers import check_servers
from .option_shapes import check_positive, check_shapes, given, refuse
from .options import ClaudeAgentOptions
from .store.methods import implements

__all__ = ["validate", "warn_if_shadowed"]


def validate(options: ClaudeAgentOptions) -> None:
    """Raise OptionsError when a run cannot be started with these options."""
    check_shapes(options)
    _check_hooks(options.hooks)
    check_servers(options.mcp_servers)
    _check_permissions(options)
    _check_session(options)
    _check_store(options)
    if options.model and options.fallback_model == options.model:
        raise refuse("fallback_model", f"is the model itself, {given(options.model)}; name another or none")


def warn_if_shadowed(options: ClaudeAgentOptions) -> None:
    """Warn when other options decide calls before `can_use_tool` would be asked about them."""
    if options.can_use_tool is None:
        return
    if options.permission_mode == "bypassPermissions":
        reason = "will not be asked: the permission mode 'bypassPermissions' allows every call"
    else:
        names = _whole_tools(options)
        if not names:
            return
        reason = (
            f"will not be asked about {', '.join(names)}: allowed_tools allows all calls of them. "
            "Narrow the entries, such as Bash(git log:*), or leave them out"
        )
    warnings.warn(
        f"can_use_tool {reason}. A PreToolUse hook sees every call.",
        CanUseToolShadowedWarning,
        stacklevel=_levels_to_caller(),
    )


def _levels_to_caller() -> int:
    """Return the stack level, as seen by `warn_if_shadowed`, of the code that uses this package."""
    level = 1
    frame = sys._getframe(1)  # noqa: SLF001  # the only way to the caller's frame
    package = __name__.partition(".")[0]
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame = frame.f_back
        level += 1
    return level


def _whole_tools(options: ClaudeAgentOptions) -> list[str]:
    entries = [*(options.allowed_tools or ()), *(["Skill"] if options.skills == "all" else [])]
    names = [entry.removesuffix("()").removesuffix("(*)") for entry in entries]
    return list(dict.fromkeys(name for name in names if name.strip() and "(" not in name))


def _check_hooks(hooks: Any) -> None:
    if hooks is None:
        return
    if not isinstance(hooks, Mapping):
        raise refuse("hooks", f"must be a dict of events, got a {type(hooks).__name__}")
    for event, matchers in hooks.items():
        if event not in HOOK_EVENTS:
            raise refuse(
                "hooks", f"has the unknown event {given(event)}; the events are {', '.join(HOOK_EVENTS)}"
            )
        if not isinstance(matchers, list | tuple):
            raise refuse(f"hooks[{event!r}]", f"must be a list of HookMatcher, got {given(matchers)}")
        for matcher in matchers:
            _check_matcher(f"hooks[{event!r}]", matcher)


def _check_matcher(name: str, matcher: Any) -> None:
    if not isinstance(matcher, HookMatcher):
        hint = "; wrap it: HookMatcher(hooks=[...])" if callable(matcher) else ""
        raise refuse(name, f"must hold HookMatcher objects, got {given(matcher)}{hint}")
    pattern: Any = matcher.matcher
    if pattern is not None and not isinstance(pattern, str):
        raise refuse(name, f"has a matcher that is no string: {given(pattern)}")
    hooks: Any = matcher.hooks
    if not isinstance(hooks, list | tuple) or not all(callable(hook) for hook in hooks):
        raise refuse(name, f"has a HookMatcher whose hooks are no list of functions: {given(hooks)}")
    if matcher.timeout is not None:
        check_positive(f"{name} timeout", matcher.timeout)
    if matcher.on_failure not in (None, "continue", "block"):
        raise refuse(name, f"has on_failure {given(matcher.on_failure)}; use 'continue' or 'block'")


def _check_permissions(options: ClaudeAgentOptions) -> None:
    if options.can_use_tool is not None and options.permission_prompt_tool_name:
        raise refuse(
            "can_use_tool", "cannot be combined with permission_prompt_tool_name: both would decide; keep one"
        )


def _check_session(options: ClaudeAgentOptions) -> None:
    goes_on = bool(options.resume) or options.continue_conversation
    if options.session_id and goes_on and not options.fork_session:
        raise refuse(
            "session_id",
            "names a new session, but resume or continue_conversation goes on with an old one; "
            "set fork_session to go on under the new id",
        )
    found_in_store = options.continue_conversation and options.session_store is not None
    if options.resume_session_at and not options.resume and not found_in_store:
        raise refuse("resume_session_at", "needs resume, the session in which to find the message")
    if options.resume_drops_turn is not None and not options.resume_session_at:
        raise refuse(
            "resume_drops_turn", "needs resume_session_at, the message after which turns are dropped"
        )


def _check_store(options: ClaudeAgentOptions) -> None:
    store = options.session_store
    if store is None:
        return
    if isinstance(store, type):
        raise refuse("session_store", f"must be an object, got the class {store.__name__}; call it")
    for method in ("append", "load"):
        if not callable(getattr(store, method, None)):
            raise refuse("session_store", f"needs the method {method}(), {type(store).__name__} has none")
    if options.enable_file_checkpointing:
        raise refuse(
            "session_store",
            "cannot be combined with enable_file_checkpointing: checkpoints stay on this machine's disk "
            "and would not match a transcript that is resumed elsewhere",
        )
    if options.continue_conversation and not options.resume and not implements(store, "list_sessions"):
        raise refuse("continue_conversation", "with session_store needs a store with list_sessions()")
