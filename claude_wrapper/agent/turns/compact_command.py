"""The command `/compact`: the older part of the conversation gives way to a summary because somebody wants it so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from claude_wrapper.agent.api.switches import is_on
from claude_wrapper.agent.compaction.compactor import CompactionFailedError
from claude_wrapper.agent.compaction.cut import cut
from claude_wrapper.agent.hooking.instructions import instructions_loaded
from claude_wrapper.agent.ids import new_uuid
from claude_wrapper.agent.turns.parts import Parts

from .results import error_body
from .turn import Ending, Turn

__all__ = ["CompactCommand"]

_TOO_LITTLE = "Not enough messages to compact."
_CANCELED = "The compaction was canceled."
_DONE = "Compacted: a summary stands in the place of what came before."


class CompactCommand:
    """Carries the command out."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def is_off(self, name: str) -> bool:
        """Whether this is the command, and there is none."""
        return name == "compact" and is_on(self._parts.settings.environ, "DISABLE_COMPACT")

    async def run(self, turn: Turn, wishes: str, said: str, keep: Callable[[], None]) -> str:
        """Compact, and begin the frames of the turn; returns the text of its result.

        `said` is the command as the model is told of it; `keep` writes it down.
        """
        parts = self._parts
        run = {"command": "compact", "args": wishes}
        messages = parts.session.history.messages
        if not messages:
            parts.send_init(turn.prompt_uuids)
            self._tell(said, f"Error: {_TOO_LITTLE}", "stderr", local_command_run=run, **_FAILED)
            keep()
            return _TOO_LITTLE
        if not parts.memory.begun:
            await instructions_loaded(parts.hooks, parts.memory.begin(), of_host=False)
        part = cut(messages)
        turn.when_interrupted = lambda: self._canceled(turn, said, keep)
        try:
            done = await parts.compactor.run("manual", part, wishes.strip(), too_little=_TOO_LITTLE)
        except CompactionFailedError as error:
            turn.when_interrupted = None
            parts.send_init(turn.prompt_uuids)
            if part is None:
                self._tell(said, str(error), "stdout", local_command_run=run)
            else:
                self._tell(said, str(error), "stderr", local_command_run=run, **_FAILED)
            keep()
            return str(error)
        turn.when_interrupted = None
        parts.send_init(turn.prompt_uuids)
        parts.frames.emit(done.border)
        parts.frames.user(done.uuid, done.text, is_replay=False, is_synthetic=True)
        source = _as_output("\n".join([_DONE, *done.said]), "stdout")
        parts.session.mention(said, source)
        uuid = new_uuid()
        parts.frames.user(uuid, source, is_replay=True)
        keep()
        parts.session.add_command(uuid, source)
        return ""

    def _canceled(self, turn: Turn, said: str, keep: Callable[[], None]) -> Ending:
        self._parts.send_init(turn.prompt_uuids)
        self._tell(said, _CANCELED, "stdout")
        keep()
        fields = {"local_command": "compact"}
        return Ending(terminal_reason=None, stop_reason=None, fields=fields, timed=False)

    def _tell(self, said: str, text: str, stream: str, **fields: Any) -> None:
        source = _as_output(text, stream)
        self._parts.session.mention(said, source)
        body = error_body(text, "end_turn")
        body.stop_sequence = None
        self._parts.frames.assistant(new_uuid(), body, local_command_source=source, **fields)


_FAILED: dict[str, Any] = {"local_command_outcome": {"kind": "failed"}}


def _as_output(text: str, stream: str) -> str:
    return f"<local-command-{stream}>{text}</local-command-{stream}>"
