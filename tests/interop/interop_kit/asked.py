"""What the model was asked, made comparable: the conversation, and what else of the scenario it was told."""

import re
from typing import Any

from interop_kit.observation import Row
from interop_kit.own import OwnWords

ASIDE = re.compile(r"\s*<system-reminder>.*?</system-reminder>\s*", re.DOTALL)
"""What an agent tells the model beside the conversation: its own matter, but for the scenario's sentences in it."""


def normal_requests(requests: list[Row], own: OwnWords) -> list[Row]:
    """Each request; one that is repeated at once counts once, since retries show as messages."""
    kept: list[Row] = []
    for request in requests:
        row = normal_request(request, own)
        if not kept or kept[-1] != row:
            kept.append(row)
    return kept


def normal_request(body: Row, own: OwnWords) -> Row:
    asides: set[str] = set()
    spoken = [message for message in body["messages"] if message["role"] in ("user", "assistant")]
    messages = [(message["role"], blocks_of(message["content"], own, asides)) for message in spoken]
    asides.update(own.sentences_in("\n".join(block["text"] for block in system_blocks(body))))
    return {
        "model": body["model"],
        "stream": body.get("stream", False),
        "thinking": body.get("thinking", {}).get("type"),
        "tools": sorted(tool["name"] for tool in body.get("tools", []) if own.names(tool)),
        "told": sorted(asides),
        "messages": [{"role": role, "content": blocks} for role, blocks in messages if blocks],
    }


def system_blocks(body: Row) -> list[Row]:
    system = body.get("system") or []
    return [{"type": "text", "text": system}] if isinstance(system, str) else system


def blocks_of(content: Any, own: OwnWords, asides: set[str]) -> list[Any]:
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    normal = [normal_block(block, own, asides) for block in blocks]
    return [block for block in normal if not is_of_the_agent(block)]


def is_of_the_agent(block: Row) -> bool:
    """Whether a text block holds nothing but words of the agent."""
    return block["type"] == "text" and block["text"] in ("", "<words>", "<local-command-stdout> <words>")


def normal_block(block: Row, own: OwnWords, asides: set[str]) -> Row:
    block = {key: value for key, value in block.items() if key != "cache_control"}
    if block["type"] == "text":
        return {"type": "text", "text": own.worded(without_asides(block["text"], own, asides))}
    if block["type"] == "tool_result":
        content = block.get("content") or ""
        if isinstance(content, str):
            text = own.reported(without_asides(content, own, asides), failed=bool(block.get("is_error")))
            return {**block, "content": [{"type": "text", "text": text}]}
        parts = [normal_block(part, own, asides) for part in content]
        return {**block, "content": [part for part in parts if part.get("text") != ""]}
    return block


def without_asides(text: str, own: OwnWords, asides: set[str]) -> str:
    """`text` without the agent's own notes and without blank space at its end, which means nothing to a model."""
    for aside in ASIDE.findall(text):
        asides.update(own.sentences_in(aside))
    return ASIDE.sub("", text).strip()
