"""What every hook event tells."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from .records import Part, Text

__all__ = [
    "HookEffortBody",
    "HookInputPart",
]


class HookEffortBody(Part):
    """How much effort the model is asked for."""

    level: str


class HookInputPart(Part, kw_only=True, tag_field="hook_event_name"):
    """What every event tells. The agent fields are there inside a subagent."""

    session_id: str
    transcript_path: str
    cwd: str
    prompt_id: Text = UNSET
    permission_mode: Text = UNSET
    agent_id: Text = UNSET
    agent_type: Text = UNSET
    effort: HookEffortBody | UnsetType = UNSET
