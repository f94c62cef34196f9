"""Events beside the conversation: the folder changed, somebody is waited for, another model is asked."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from claude_wrapper.agent.tools.task_book import Task
from claude_wrapper.wire.hook_call_inputs import PermissionDeniedInput
from claude_wrapper.wire.hook_session_inputs import (
    CwdChangedInput,
    NotificationInput,
    PostModelSwitchInput,
    PreModelSwitchInput,
    TaskCompletedInput,
    TaskCreatedInput,
)

from .events import HookEvents

__all__ = [
    "call_denied",
    "cwd_changed",
    "model_switched",
    "switch_refused",
    "task_objection",
    "waiting_for_permission",
]

_PATIENCE = 6.0
"""Seconds that a question about permission may stay open before hooks are told."""


async def cwd_changed(hooks: HookEvents, old: Path, new: Path) -> None:
    """A command has changed the folder."""
    if old != new and hooks.has("CwdChanged"):
        event = CwdChangedInput(**hooks.fields.bare(), old_cwd=str(old), new_cwd=str(new))
        await hooks.occur(event)


@asynccontextmanager
async def waiting_for_permission(hooks: HookEvents, tool_name: str) -> AsyncIterator[None]:
    """While somebody is asked whether a tool may run."""
    if not hooks.has("Notification"):
        yield
        return

    async def remind() -> None:
        await anyio.sleep(_PATIENCE)
        kind = "permission_prompt"
        event = NotificationInput(
            **hooks.fields.bare(),
            message=f"Permission is needed to use {tool_name}",
            notification_type=kind,
        )
        await hooks.occur(event, kind)

    failure: Exception | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(remind)
        try:
            yield
        except Exception as error:  # noqa: BLE001  # it would leave the group as a group of errors
            failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure


async def task_objection(hooks: HookEvents, change: str, task: Task) -> str | None:
    """What hooks have against a task that is to be `created` or `completed`."""
    kind = TaskCreatedInput if change == "created" else TaskCompletedInput
    name = str(kind.__struct_config__.tag)
    if not hooks.has(name):
        return None
    event = kind(
        **hooks.fields.bare(),
        task_id=task.id,
        task_subject=task.subject,
        task_description=task.description,
    )
    blocks = (await hooks.occur(event, told=False)).blocks
    return "\n".join(f"{name} hook feedback:\n{text}" for text in blocks) if blocks else None


async def call_denied(
    hooks: HookEvents, call_id: str, tool_name: str, tool_input: dict[str, Any], reason: str
) -> bool:
    """The model that checks calls has denied one; whether hooks let it be tried again."""
    if not hooks.has("PermissionDenied"):
        return False
    event = PermissionDeniedInput(
        **hooks.fields.at_work(),
        tool_name=tool_name,
        tool_input=tool_input,
        tool_use_id=call_id,
        reason=reason,
    )
    return (await hooks.occur(event, tool_name, tool_input=tool_input)).retry


def _switch(
    hooks: HookEvents, old: str, new: str, requested: str | None, facts: dict[str, Any]
) -> dict[str, Any]:
    return {
        **hooks.fields.bare(),
        "from_model": old,
        "to_model": new,
        "requested_model": requested,
        "source": "sdk",
        **facts,
    }


async def switch_refused(
    hooks: HookEvents, old: str, new: str, requested: str | None, facts: dict[str, Any]
) -> str | None:
    """Why hooks do not let the session change its model; None if they do. `facts` say what that may cost."""
    if not hooks.has("PreModelSwitch"):
        return None
    outcome = await hooks.decide(PreModelSwitchInput(**_switch(hooks, old, new, requested, facts)), new)
    # Whoever changes the model by a request has nobody to ask.
    if outcome.decision in {"deny", "ask"}:
        return outcome.reason or "no reason given"
    return None


async def model_switched(
    hooks: HookEvents, old: str, new: str, requested: str | None, facts: dict[str, Any]
) -> None:
    """The session has changed its model; what hooks say goes to the new one."""
    if hooks.has("PostModelSwitch"):
        event = PostModelSwitchInput(**_switch(hooks, old, new, requested, facts))
        await hooks.occur(event, new, first=True)
