"""System frames about tasks: subagents and commands that run beside the conversation."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, UnsetType

from .records import Flag, Number, OptionalText, Part, SystemPart, Text

__all__ = [
    "BackgroundTask",
    "BackgroundTasksChangedFrame",
    "TaskNotificationFrame",
    "TaskPatch",
    "TaskProgressFrame",
    "TaskStartedFrame",
    "TaskUpdatedFrame",
    "TaskUsageBody",
]


class TaskUsageBody(Part):
    """What a task has used so far."""

    total_tokens: int
    tool_uses: int
    duration_ms: int | float


class TaskPatch(Part):
    """What is new about a task; what is absent stays as it was."""

    status: Text = UNSET
    description: Text = UNSET
    end_time: Number = UNSET
    """Unix time in milliseconds."""
    error: OptionalText = UNSET
    is_backgrounded: Flag = UNSET
    total_paused_ms: Number = UNSET


class BackgroundTask(Part):
    """One of the tasks in the background."""

    task_id: str
    task_type: str
    description: str
    run_id: Text = UNSET
    subagent_type: Text = UNSET
    parent_task_id: Text = UNSET
    ambient: Flag = UNSET


class TaskStartedFrame(SystemPart, tag="task_started"):
    """A subagent began, or a command that runs for some time or in the background."""

    task_id: str
    description: str
    uuid: str
    session_id: str
    run_id: Text = UNSET
    owned_by_subagent: Flag = UNSET
    tool_use_id: Text = UNSET
    task_type: Text = UNSET
    is_backgrounded: Flag = UNSET
    subagent_type: Text = UNSET
    spawn_depth: int | UnsetType = UNSET
    prompt: Text = UNSET
    parent_task_id: Text = UNSET
    workflow_name: Text = UNSET
    skip_transcript: Flag = UNSET
    ambient: Flag = UNSET


class TaskProgressFrame(SystemPart, tag="task_progress"):
    """A subagent used a tool."""

    task_id: str
    description: str
    usage: TaskUsageBody
    uuid: str
    session_id: str
    run_id: Text = UNSET
    tool_use_id: Text = UNSET
    subagent_type: Text = UNSET
    last_tool_name: Text = UNSET
    summary: Text = UNSET


class TaskUpdatedFrame(SystemPart, tag="task_updated"):
    """A task changed."""

    task_id: str
    patch: TaskPatch
    run_id: Text = UNSET


class TaskNotificationFrame(SystemPart, tag="task_notification"):
    """A task ended; `status` is completed, failed or stopped."""

    task_id: str
    status: str
    output_file: str
    summary: str
    uuid: str
    session_id: str
    run_id: Text = UNSET
    owned_by_subagent: Flag = UNSET
    tool_use_id: Text = UNSET
    usage: TaskUsageBody | UnsetType = UNSET
    summary_is_report: Flag = UNSET
    reason: Text = UNSET
    resource_links: Any = UNSET
    skip_transcript: Flag = UNSET
    ambient: Flag = UNSET


class BackgroundTasksChangedFrame(SystemPart, tag="background_tasks_changed"):
    """The set of tasks in the background changed; the list is whole."""

    tasks: list[BackgroundTask]
