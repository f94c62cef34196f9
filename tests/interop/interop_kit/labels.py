"""Says in a few words what kind of row a row is; rows of one kind are held against each other."""

from typing import Any


def label(row: dict[str, Any]) -> str:
    """The kind of a message, a callback, a call, an entry, or a request for a model's reply."""
    kind = row.get("kind", "request")
    if kind == "request":
        return f"request of {row['known'] + len(row['messages'])} messages"
    if "blocks" in row:
        return " ".join([kind, *(f"[{block}]" for block in row["blocks"])])
    if kind == "raise":
        return f"raise {row['mro'][0] if row['mro'] else '?'}"
    data = row["data"] if isinstance(row.get("data"), dict) else row
    event = row.get("event")
    event_name = event.get("type") if isinstance(event, dict) else event
    names = [
        row.get("class") or data.get("type"),
        data.get("subtype"),
        event_name,
        row.get("tool"),
        row.get("method"),
    ]
    inner: dict[str, Any] = next(
        (row[key] for key in ("request", "response") if isinstance(row.get(key), dict)), {}
    )
    return " ".join([kind, *(str(name) for name in [*names, inner.get("subtype")] if name), *blocks(row)])


def blocks(row: dict[str, Any]) -> list[str]:
    """The kinds of the content blocks of a message."""
    inner = row.get("message") if isinstance(row.get("message"), dict) else row
    content = inner.get("content") if isinstance(inner, dict) else None
    if not isinstance(content, list):
        return []
    return [f"[{block.get('class') or block.get('type')}]" for block in content if isinstance(block, dict)]
