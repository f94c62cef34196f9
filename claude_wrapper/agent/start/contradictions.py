"""Flags that ask for each other, or rule each other out."""

from __future__ import annotations

from .cli import Arguments, UsageError
from .subcommand_names import nearly_subcommand

__all__ = ["refuse_contradictions", "suggests"]

_OFF = frozenset({"false", "0", "no", "off"})


def refuse_contradictions(arguments: Arguments, output_format: str) -> None:
    """Raises UsageError for flags that cannot be served together."""
    frames_in = arguments.value("input_format") == "stream-json"
    frames_out = output_format == "stream-json"
    rules = (
        (
            frames_out and not arguments.has("verbose"),
            "When using --print, --output-format=stream-json requires --verbose",
        ),
        (
            frames_in and not frames_out,
            "--input-format=stream-json needs --output-format=stream-json as well",
        ),
        (
            arguments.has("replay_user_messages") and not (frames_in and frames_out),
            "--replay-user-messages is for frames in and out: it needs both formats to be stream-json",
        ),
        (
            arguments.has("include_partial_messages") and not frames_out,
            "--include-partial-messages needs --output-format=stream-json",
        ),
        (
            suggests(arguments) and not frames_out,
            "--prompt-suggestions needs --output-format=stream-json",
        ),
        (
            arguments.has("resume_session_at") and not arguments.has("resume"),
            "--resume-session-at needs --resume",
        ),
        (
            arguments.has("resume_drops_turn") and not arguments.has("resume_session_at"),
            "--resume-drops-turn needs --resume-session-at",
        ),
        (arguments.has("rewind_files") and not arguments.has("resume"), "--rewind-files needs --resume"),
        (
            arguments.has("session_id")
            and (arguments.has("resume") or arguments.has("continue_newest"))
            and not arguments.has("fork_session"),
            "--session-id goes with --continue or --resume only beside --fork-session",
        ),
        (
            arguments.value("resume") == "" and not frames_in,
            "--resume needs the id or the title of a session, since there is no screen to choose one on",
        ),
    )
    for broken, text in rules:
        if broken:
            raise UsageError(text)
    _refuse_mistyped(arguments)


def suggests(arguments: Arguments) -> bool:
    """Whether prompts shall be suggested."""
    return arguments.has("prompt_suggestions") and arguments.value("prompt_suggestions") not in _OFF


def _refuse_mistyped(arguments: Arguments) -> None:
    """A single word that is nearly a subcommand is hardly meant as a prompt, unless print mode says so."""
    if arguments.has("print_mode") or len(arguments.words) != 1:
        return
    word = arguments.words[0]
    meant = nearly_subcommand(word)
    if meant is not None:
        raise UsageError(
            f"unknown command '{word}'. Did you mean {meant}? To send it as a prompt, use -p '{word}'.",
            plain=True,
        )
