"""Makes transcripts comparable: who said what, after whom, and what a reader of them may ask of an entry."""

from typing import Any

from interop_kit.members import Members
from interop_kit.observation import Row
from interop_kit.rules import words

KINDS = ("user", "assistant")
"""Entries of a conversation; what else a transcript holds is its writer's own bookkeeping."""

MEMBERS = words(
    "uuid sessionId cwd isSidechain agentId permissionMode toolUseResult sourceToolAssistantUUID isCompactSummary"
    " isVisibleInTranscriptOnly isApiErrorMessage error"
)
"""What readers of transcripts go by. The others are the writer's own: its release, branch, kind of host, notes."""
MEMBERS_OF_MESSAGES = words("id role model usage")
"""Contents are compared where they go from there: as messages, and in the requests of sessions that are gone on with."""


def normal_transcripts(transcripts: dict[str, list[Row]], members: Members) -> list[Row]:
    """Each transcript: its name and its conversation, entry by entry."""
    return [{"name": name, "entries": conversation(rows, members)} for name, rows in transcripts.items()]


def conversation(rows: list[Row], members: Members) -> list[Row]:
    """The messages among `rows`, each with the position of the message that it follows (`after`).

    Notes that an agent writes for the model alone stand in the way of no link: a message follows the nearest message
    above it. A reply that follows several results follows the first of them: the official agent hangs it on the one
    that came last, ours on that of the last call, which keeps all calls on the way to the root.
    """
    parents = {row["uuid"]: row.get("parentUuid") for row in rows if "uuid" in row}
    kept = [row for row in rows if row.get("type") in KINDS and not row.get("isMeta")]
    places = {row["uuid"]: index for index, row in enumerate(kept)}
    found: list[Row] = []
    for row in kept:
        place = above(row.get("parentUuid"), parents, places)
        while (
            place and row["type"] == "assistant" and is_result(found[place]) and is_result(found[place - 1])
        ):
            place -= 1
        found.append({"kind": row["type"], "blocks": blocks(row), "after": place, **said(row, members)})
    return found


def said(row: Row, members: Members) -> Row:
    """The members of an entry that are compared, by the rules."""
    message = {key: row["message"][key] for key in row["message"] if key in MEMBERS_OF_MESSAGES}
    kept = {key: row[key] for key in row if key in MEMBERS and row[key] is not None}
    if "toolUseResult" in kept:  # what it says is compared in the message
        kept["toolUseResult"] = type(kept["toolUseResult"]).__name__
    normal: Row = members.normal({**kept, "message": message})
    return normal


def is_result(entry: Row) -> bool:
    return "tool_result" in entry["blocks"]


def above(uuid: str | None, parents: dict[str, str | None], places: dict[str, int]) -> int | None:
    """The place of the nearest message at or above `uuid`."""
    seen = set()
    while uuid is not None and uuid not in places and uuid not in seen:
        seen.add(uuid)
        uuid = parents.get(uuid)
    return places.get(uuid) if uuid else None


def blocks(row: Row) -> list[str]:
    content: Any = row["message"]["content"]
    return ["text"] if isinstance(content, str) else [block["type"] for block in content]
