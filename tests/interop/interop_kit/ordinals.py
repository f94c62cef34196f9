"""Replaces every id that chance made by an ordinal, in order of first appearance."""

import re
from typing import Any

from interop_kit.own import OwnWords
from interop_kit.rules import words
from interop_kit.scenario import mapped

KEYS = words(
    "task_id agent_id hook_id request_id turn_id message_id uuid session_id tool_use_id id shell_id backgroundTaskId"
    " agentId toolUseID command_uuid parent_tool_use_id cell_id"
)
TEXTS = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|toolu_\w+|msg_\w+|(?<=agent-)[0-9a-f]{12,}"
)


def numbered(record: dict[str, Any], own: OwnWords) -> dict[str, Any]:
    """The same record; equal ids have equal ordinals wherever they stand, the scenario's own ids stay."""
    found: dict[str, str] = {}
    collect(record, "", own, found)
    if not found:
        return record
    pattern = re.compile("|".join(re.escape(text) for text in sorted(found, key=len, reverse=True)))

    def replaced(text: str) -> str:
        return pattern.sub(lambda match: found[match[0]], text)

    return {name: mapped(part, replaced) for name, part in record.items()}


def collect(value: Any, key: str, own: OwnWords, found: dict[str, str]) -> None:
    """Note the ids in `value`, which is the member `key` of an object."""
    if isinstance(value, dict):
        for name, item in value.items():
            collect(item, name, own, found)
    elif isinstance(value, list):
        for item in value:
            collect(item, key, own, found)
    elif isinstance(value, str):
        for text in [value] if key in KEYS and value else TEXTS.findall(value):
            if not own.says(text):
                found.setdefault(text, f"<id{len(found) + 1}>")
