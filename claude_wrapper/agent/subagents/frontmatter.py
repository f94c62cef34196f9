"""The head of a file that defines a subagent; one that cannot be read makes the file none."""

from __future__ import annotations

from typing import Any

from claude_wrapper.agent.context.heads import BadHeadError, fields_of, split

__all__ = ["BadHeadError", "parted"]


def parted(text: str) -> tuple[dict[str, Any], str]:
    """The fields of the head and the text behind it; no fields where there is no head. Raises BadHeadError."""
    text = text.removeprefix("\ufeff")
    head, prompt = split(text)
    if head is None:
        if text.partition("\n")[0].rstrip() == "---":
            raise BadHeadError("the head does not end")
        return {}, text
    if head.lstrip("\n")[:1].isspace():
        raise BadHeadError("the first field does not stand at the margin")
    return (fields_of(head) if head.strip() else {}), prompt.strip()
