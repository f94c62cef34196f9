"""Applies the rules to one message, callback or call: members left out, clocks and a vendor's sentences blanked."""

from typing import Any

from interop_kit import rules
from interop_kit.observation import Row
from interop_kit.own import OwnWords

WORDED = rules.words(
    "message decision_reason decisionReason error errors reason text title description summary display_name"
    " tool_use_result toolUseResult api_error startup_failure_reason last_assistant_message result line local_command_source"
)
"""Members that may hold a vendor's sentence; `OwnWords.worded` keeps in them what is the scenario's or a fact."""


class Members:
    """The rules, for one scenario."""

    def __init__(self, own: OwnWords) -> None:
        self._own = own
        self._tools: dict[str, str] = {}

    def leaves_out(self, row: Row) -> bool:
        """Whether a rule leaves the whole message out."""
        data = row["data"] if isinstance(row.get("data"), dict) else row
        return rules.leaves_out(data.get("type")) or rules.leaves_out(data.get("subtype"))

    def normal(self, value: Any, key: str = "") -> Any:
        """`value`, the member `key` of an object, by the rules."""
        if isinstance(value, dict):
            return self._object(value)
        if isinstance(value, list):
            return self._list(value, key)
        if isinstance(value, float):
            return round(value, 9)
        if isinstance(value, str):
            value = rules.ASIDE.sub("<aside>", value)
            return self._own.worded(value) if key in WORDED else value
        return value

    def _object(self, value: Row) -> Row:
        if "input" in value and "name" in value and "id" in value:
            self._tools[value["id"]] = value["name"]
        normal = {
            key: rules.replacement(key) or self.normal(item, key)
            for key, item in value.items()
            if not rules.drops(key)
        }
        for key in rules.IDS_OF_PROMPTS & normal.keys():
            normal[key] = self._ids_of_prompts(normal[key])
            if normal[key] is None and "class" not in value:
                del normal[key]
        if value.get("tool_response") and isinstance(value["tool_response"], str):
            normal["tool_response"] = self._own.reported(
                value["tool_response"], value["tool_name"], failed=False
            )
        if "mro" in value:
            normal["mro"] = [name for name in value["mro"] if name in rules.CLASSES_OF_THE_OFFICIAL_SDK]
        if isinstance(value.get("content"), str):
            normal["content"] = self._content(value)
        return normal

    def _ids_of_prompts(self, value: Any) -> Any:
        if isinstance(value, list):
            return [text for text in value if self._own.says(text)] or None
        return value if value is not None and self._own.says(value) else None

    def _content(self, value: Row) -> str:
        """A result's text, a message's text, or the content of a file, which stays."""
        content: str = rules.ASIDE.sub("<aside>", value["content"])
        if "tool_use_id" in value:
            tool = self._tools.get(value["tool_use_id"], "")
            return self._own.reported(content, tool, failed=bool(value.get("is_error")))
        is_message = "role" in value or value.get("type") == "system" or "class" in value
        return self._own.worded(content) if is_message else content

    def _list(self, values: list[Any], key: str) -> list[Any]:
        if key not in rules.LISTS_OF_THE_VENDOR:
            return [self.normal(item, key) for item in values if not is_note(item)]
        kept = [item for item in values if self._own.names(item) or str(item) in rules.TOOLS_OF_BOTH]
        return sorted((self.normal(item) for item in kept), key=str)


def is_note(item: Any) -> bool:
    """Whether a content block is a note of the agent to itself, by the rules."""
    return isinstance(item, dict) and item.get("type") == "text" and rules.is_note(str(item.get("text")))
