"""What surrounds the messages of a request, made comparable: address, headers, marks for the cache, further fields."""

import json
import re
from collections.abc import Iterable
from typing import Any

from interop_kit import rules
from interop_kit.observation import Row

AGENT = re.compile(r"[\w.-]+/\d+\.\d+\.\d+( \(.*\))?")


def surroundings(request: Row) -> Row:
    """All members of `request` that hold neither prompts nor tools, by the rules."""
    body: Row = request["body"]
    more = {key: value for key, value in body.items() if not rules.leaves_out_field(key, value)}
    return {
        "path": request["path"],
        "headers": headers(request["headers"], body),
        "metadata": metadata(body.get("metadata")),
        "cached": {
            "beginning": marks([*blocks_of(body.get("system")), *body.get("tools", [])]),
            "end": marks(
                block for message in body["messages"][-1:] for block in blocks_of(message["content"])
            ),
        },
        "fields": more,
    }


def headers(sent: dict[str, str], body: Row) -> Row:
    """Each header that no rule leaves out; the betas as a list."""
    kept: Row = {name: value for name, value in sent.items() if not rules.leaves_out_header(name)}
    if "user-agent" in kept and AGENT.fullmatch(kept["user-agent"]):
        kept["user-agent"] = "NAME/VERSION"
    thinks = (body.get("thinking") or {}).get("type")
    betas = kept.pop("anthropic-beta", "").split(",")
    kept["anthropic-beta"] = sorted(
        beta for beta in betas if beta and not rules.leaves_out_beta(beta, thinks)
    )
    return kept


def metadata(sent: Any) -> Any:
    """Who asks: a JSON text with the session's id; which machine asks is each agent's own affair."""
    if not isinstance(sent, dict) or not isinstance(sent.get("user_id"), str):
        return sent
    try:
        user = json.loads(sent["user_id"])
    except ValueError:
        return sent
    return {**sent, "user_id": {**user, "device_id": "DEVICE"} if "device_id" in user else user}


def marks(blocks: Iterable[Any]) -> list[Any]:
    """The marks for the cache on `blocks`, each kind once: where exactly they stand depends on each agent's blocks."""
    found = [
        block["cache_control"] for block in blocks if isinstance(block, dict) and "cache_control" in block
    ]
    return [mark for index, mark in enumerate(found) if mark not in found[:index]]


def blocks_of(content: Any) -> list[Any]:
    return content if isinstance(content, list) else []
