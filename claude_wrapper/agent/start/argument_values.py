"""Values of the command line that are more than words: numbers, texts from files, a schema, lists of names."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from .cli import Arguments, UsageError, invalid_value

__all__ = [
    "compact_window",
    "effort",
    "names_in",
    "number_above_zero",
    "schema",
    "subagents",
    "text_or_file",
    "thinking_tokens",
    "turn_limit",
    "whole_above_zero",
]

_EFFORTS = ("low", "medium", "high", "xhigh", "max", "ultracode")
_LEAST_WINDOW = 100_000
_THOUSANDS = 1000
_objects = msgspec.json.Decoder(dict[str, Any])


def turn_limit(arguments: Arguments, environ: Mapping[str, str]) -> int | None:
    """How many replies the model may give to a prompt; None for as many as it takes."""
    text = arguments.value("max_turns")
    if text is None:
        from_environment = environ.get("CLAUDE_CODE_MAX_TURNS", "")
        if from_environment and not (from_environment.isdecimal() and int(from_environment)):
            raise UsageError(
                f"CLAUDE_CODE_MAX_TURNS takes a whole number above zero, not '{from_environment}'", plain=True
            )
        return int(from_environment) if from_environment else None
    number = _number("max_turns", text)
    return None if number == 0 or math.isinf(number) else max(1, int(number))


def thinking_tokens(arguments: Arguments) -> int | None:
    """How many tokens the model may think; 0 is none at all."""
    text = arguments.value("max_thinking_tokens")
    if text is None:
        return None
    number = _number("max_thinking_tokens", text)
    return None if math.isinf(number) else max(0, int(number))


def whole_above_zero(arguments: Arguments, name: str) -> int | None:
    """The whole number that a flag brings."""
    text = arguments.value(name)
    if text is None:
        return None
    if not (text.isdecimal() and int(text)):
        raise invalid_value(name, text, "It takes a whole number above zero.")
    return int(text)


def number_above_zero(arguments: Arguments, name: str) -> float | None:
    """The number that a flag brings."""
    text = arguments.value(name)
    if text is None:
        return None
    number = _parsed(text)
    if not number > 0:
        raise invalid_value(name, text, "It takes a number above zero.")
    return None if math.isinf(number) else number


def compact_window(arguments: Arguments) -> int | None:
    """The window by which conversations are compacted; 0 leaves it to the model."""
    text = arguments.value("autocompact")
    if text is None or text == "auto":
        return None if text is None else 0
    digits, thousand = (text[:-1], True) if text[-1:] in {"k", "K"} else (text, False)
    number = int(digits) if digits.isdecimal() else 0
    if thousand or number < _THOUSANDS:
        number *= _THOUSANDS
    if number < _LEAST_WINDOW:
        raise invalid_value(
            "autocompact", text, "It takes `auto`, or 100k tokens at least (500k, 200000, 200)."
        )
    return number


def effort(arguments: Arguments, warnings: list[str]) -> str | None:
    """The effort that is wished for; an unknown one is told of and left out."""
    text = arguments.value("effort")
    if text is None or text in _EFFORTS:
        return text
    warnings.append(f"Unknown --effort value '{text}': it is left out. Known are {', '.join(_EFFORTS[:-1])}.")
    return None


def names_in(arguments: Arguments, name: str) -> tuple[str, ...]:
    """The names in a list with commas."""
    return tuple(part.strip() for part in (arguments.value(name) or "").split(",") if part.strip())


def text_or_file(arguments: Arguments, name: str, cwd: Path) -> str | None:
    """A text that is given as it is, in a file, or both, the file's first."""
    path = arguments.value(f"{name}_file")
    text = arguments.value(name)
    if path is None:
        return text
    try:
        from_file = (cwd / path).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError as error:
        raise UsageError(f"{name.replace('_', ' ').capitalize()} file not found: {cwd / path}") from error
    except OSError as error:
        raise UsageError(f"cannot read the prompt file {path}: {error.strerror or error}") from error
    return from_file if not text else f"{from_file}\n\n{text}"


def schema(arguments: Arguments) -> dict[str, Any] | None:
    """The schema of the run's answer."""
    text = arguments.value("json_schema")
    if text is None:
        return None
    try:
        found = msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise UsageError(f"--json-schema is not valid JSON: {error}") from error
    if not isinstance(found, dict):
        raise UsageError("--json-schema must be a JSON object")
    return found


def subagents(arguments: Arguments) -> dict[str, dict[str, Any]]:
    """The subagents that the command line brings, as they are written."""
    text = arguments.value("agents")
    if text is None:
        return {}
    try:
        found = _objects.decode(text)
    except msgspec.DecodeError as error:
        raise UsageError(f"Invalid --agents configuration:\n{error}") from error
    for name, agent in found.items():
        if not isinstance(agent, dict):
            raise UsageError(f"Invalid --agents configuration:\n{name} is no object")
        for key in ("description", "prompt"):
            if not isinstance(agent.get(key), str):
                raise UsageError(f"Invalid --agents configuration:\n{name}.{key} is no text")
        for key in ("tools", "disallowedTools", "skills"):
            if not isinstance(agent.get(key, []), list):
                raise UsageError(f"Invalid --agents configuration:\n{name}.{key} is no list")
        _check_hooks(name, agent)
    return found


def _check_hooks(name: str, agent: dict[str, Any]) -> None:
    if agent.get("hooks") is None:
        return
    from claude_wrapper.agent.hooks.section import fault_of  # noqa: PLC0415  # few bring any

    fault = fault_of(agent["hooks"], name, known_events=True)
    if fault is not None:
        raise UsageError(f"Invalid --agents configuration:\n{fault}")


def _number(name: str, text: str) -> float:
    number = _parsed(text)
    if math.isnan(number):
        raise invalid_value(name, text, "It takes a number.")
    return number


def _parsed(text: str) -> float:
    """A number in any notation; empty is zero, and what is no number is NaN."""
    text = text.strip()
    if not text:
        return 0.0
    try:
        return float(int(text, 16)) if text[:2].lower() == "0x" else float(text)
    except ValueError:
        return math.nan
