"""What is different between a JSON value that was recorded and one that was sent, in words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

import msgspec

from claude_wrapper.conversation.masking import MASK

__all__ = ["differences"]

_SHOWN = 60
"""How much of a text is shown around the place where it differs."""


def differences(
    recorded: Any, sent: Any, ignore: Collection[str] = (), path: str = "", name: str = ""
) -> Iterator[str]:
    """Give a sentence for each difference.

    `ignore` holds names of fields, or whole paths such as `message.content[0].text`. A masked secret in
    the recording stands for any text; null is as good as nothing.
    """
    if name in ignore or path in ignore:
        return
    if isinstance(recorded, dict) and isinstance(sent, dict):
        for key in dict.fromkeys([*recorded, *sent]):
            inner = f"{path}.{key}" if path else key
            yield from differences(recorded.get(key), sent.get(key), ignore, inner, key)
    elif isinstance(recorded, list) and isinstance(sent, list) and len(recorded) == len(sent):
        for index, pair in enumerate(zip(recorded, sent, strict=True)):
            yield from differences(*pair, ignore, f"{path}[{index}]")
    elif not _same(recorded, sent):
        yield f"{path}: {_told(recorded, sent)}"


def _same(recorded: Any, sent: Any) -> bool:
    if isinstance(recorded, str) and isinstance(sent, str) and MASK in recorded:
        pattern = ".*".join(map(re.escape, recorded.split(MASK)))
        return re.fullmatch(pattern, sent, re.DOTALL) is not None
    return recorded == sent and isinstance(recorded, bool) == isinstance(sent, bool)


def _told(recorded: Any, sent: Any) -> str:
    if isinstance(recorded, str) and isinstance(sent, str):
        pairs = zip(recorded, sent, strict=False)
        start = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(recorded), len(sent)))
        start = max(start - _SHOWN // 2, 0)
        return f"recorded {_part(recorded, start)}, sent {_part(sent, start)}"
    return f"recorded {_short(recorded)}, sent {_short(sent)}"


def _part(text: str, start: int) -> str:
    end = start + _SHOWN
    shown = msgspec.json.encode(text[start:end]).decode("utf-8", "replace")
    return ("…" if start else "") + shown + ("…" if end < len(text) else "")


def _short(value: Any) -> str:
    if value is None:
        return "nothing"
    text = msgspec.json.encode(value).decode("utf-8", "replace")
    return text if len(text) <= 2 * _SHOWN else text[: 2 * _SHOWN] + "…"
