"""Commands that the agent answers itself, without asking the model: `/clear`, `/cost`, `/model` and their like."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from claude_wrapper.agent.host.prompts import Prompt
from claude_wrapper.agent.ids import new_uuid, now_iso
from claude_wrapper.agent.turns.parts import Parts
from claude_wrapper.agent.turns.usage_text import context_shares, context_table, cost_lines
from claude_wrapper.wire.messages import ConversationResetFrame

from .compact_command import CompactCommand
from .results import error_body
from .turn import Ending, Turn

__all__ = ["LocalCommand", "LocalCommands", "local_command"]

_FORM = re.compile(r"/([a-z][a-z-]*)(?:\s+(.*))?", re.DOTALL)
_FRESH = frozenset({"clear", "new", "reset"})
_COSTS = frozenset({"cost", "usage", "stats"})
_SCREENS = frozenset(
    """
    add-dir branch btw bug chrome copy desktop diff exit export extra-usage feedback fork help hooks ide keybindings
    login logout memory mobile passes permissions plan plugin privacy-settings quit rate-limit-options release-notes
    remote-control resume rewind sandbox session skills status statusline stickers tasks terminal-setup theme upgrade vim
    """.split()  # noqa: SIM905  # words read better than quotes
)
"""Commands of programs of the kind that need a screen. What is not known at all is a prompt like others."""
_KNOWN = _FRESH | _COSTS | _SCREENS | {"compact", "context", "model"}


class LocalCommand(msgspec.Struct, frozen=True):
    """A command as it was written."""

    name: str
    arguments: str


def local_command(prompt: Prompt) -> LocalCommand | None:
    """The command that a prompt is, if it is one that the agent answers itself."""
    if prompt.as_written or not prompt.text.startswith("/"):
        return None
    found = _FORM.fullmatch(prompt.text.rstrip())
    if found is None or found[1] not in _KNOWN:
        return None
    return LocalCommand(found[1], found[2] or "")


class LocalCommands:
    """Answers them. `begin_anew` forgets the conversation."""

    def __init__(self, parts: Parts, begin_anew: Callable[[], None], *, disabled: bool) -> None:
        self._parts = parts
        self._begin_anew = begin_anew
        self._compacting = CompactCommand(parts)
        self._disabled = disabled

    async def answer(self, turn: Turn, prompt: Prompt, command: LocalCommand) -> Ending:
        """Answer a command; returns how its turn ends."""
        parts = self._parts
        if command.name in _SCREENS or self._disabled or self._compacting.is_off(command.name):
            parts.send_init(turn.prompt_uuids)
            text = f"/{command.name} isn't available in this environment."
            self._show(prompt.text, text, local_command_outcome={"kind": "unavailable_headless"})
            return _ending(text)
        uuid = prompt.uuid or new_uuid()
        if command.name == "compact":
            keep = partial(self._keep, uuid, prompt, command)
            return _ending(
                await self._compacting.run(turn, command.arguments, _as_kept(command), keep), command
            )
        if command.name in _FRESH:
            await self._clear(uuid)
            parts.send_init(turn.prompt_uuids)
            self._keep(uuid, prompt, command)
            return _ending("", command)
        parts.send_init(turn.prompt_uuids)
        text = self._text(command)
        run = {"command": "usage" if command.name in _COSTS else command.name, "args": command.arguments}
        if command.name == "context":
            self._show(_as_kept(command), text, local_command_run=run, context_usage=context_shares(parts))
        else:
            self._show(_as_kept(command), text, local_command_run=run)
        self._keep(uuid, prompt, command)
        return _ending(text, command)

    def failed(self, prompt: Prompt, said: str, text: str) -> Ending:
        """Say that a command of the user's own goes no further; `said` is how it is kept."""
        self._show(said, text)
        self._parts.session.add_command(prompt.uuid or new_uuid(), said)
        return _ending(text, LocalCommand("custom", ""))

    def refused(self, prompt: Prompt, command: LocalCommand, text: str) -> Ending:
        """Say that a prompt of a server cannot be had; `command` is how it is shown."""
        run = {"command": command.name, "args": command.arguments}
        outcome = {"kind": "failed"}
        self._show(_as_kept(command), text, "stderr", local_command_run=run, local_command_outcome=outcome)
        self._parts.session.add_command(prompt.uuid or new_uuid(), _as_kept(command))
        return _ending(text, LocalCommand("mcp", ""))

    def _text(self, command: LocalCommand) -> str:
        parts = self._parts
        if command.name in _COSTS:
            return "\n".join(cost_lines(parts.meter))
        if command.name == "context":
            return context_table(parts)
        if not command.arguments:
            return f"Current model: `{parts.brief.model.name}`"
        wanted = command.arguments.strip()
        model = parts.brief.use_model(None if wanted == "default" else wanted)
        return f"Set model to `{model.name}`"

    async def _clear(self, uuid: str) -> None:
        parts = self._parts
        await parts.hooks.session_end("clear", of_host=not parts.queue.closed)
        reset = new_uuid()
        parts.frames.emit(
            ConversationResetFrame(
                new_conversation_id=reset,
                trigger="clear",
                user_message_uuid=uuid,
                uuid=reset,
                session_id=parts.frames.session_id,
                timestamp=now_iso(),
            )
        )
        parts.tasks.tell()
        self._begin_anew()
        await parts.hooks.session_start("clear")
        parts.memory.forget()

    def _show(self, said: str, text: str, stream: str = "stdout", **fields: Any) -> None:
        source = f"<local-command-{stream}>{text}</local-command-{stream}>"
        self._parts.session.mention(said, source)
        body = error_body(text, "end_turn")
        body.stop_sequence = None
        self._parts.frames.assistant(new_uuid(), body, local_command_source=source, **fields)

    def _keep(self, uuid: str, prompt: Prompt, command: LocalCommand) -> None:
        """Write a command down, and repeat it so for hosts that want prompts repeated."""
        text = _as_kept(command)
        self._parts.session.add_command(uuid, text)
        if self._parts.settings.replay_prompts and (prompt.uuid is not None or not prompt.asks_model):
            self._parts.frames.user(uuid, text, is_replay=True)


def _as_kept(command: LocalCommand) -> str:
    name = "usage" if command.name in _COSTS else "clear" if command.name in _FRESH else command.name
    return (
        f"<command-name>/{name}</command-name>\n<command-message>{name}</command-message>\n"
        f"<command-args>{command.arguments}</command-args>"
    )


def _ending(text: str, command: LocalCommand | None = None) -> Ending:
    fields = {} if command is None else {"local_command": command.name}
    return Ending(text=text, terminal_reason=None, stop_reason=None, fields=fields, timed=False)
