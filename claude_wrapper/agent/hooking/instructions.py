"""The event of instructions: a file with them enters the conversation."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET

from claude_wrapper.agent.context.memory_files import MemoryFile
from claude_wrapper.wire.hook_session_inputs import InstructionsLoadedInput

from .events import HookEvents

__all__ = ["instructions_loaded"]


async def instructions_loaded(hooks: HookEvents, files: Sequence[MemoryFile], *, of_host: bool) -> None:
    """Tell of files that were read; what hooks say about that counts for nothing."""
    if not hooks.has("InstructionsLoaded", of_host=of_host):
        return
    for file in files:
        if file.kind == "AutoMem":
            continue
        fields = hooks.fields.bare()
        if file.reason == "session_start":
            fields["prompt_id"] = UNSET  # it is no prompt's doing
        event = InstructionsLoadedInput(
            **fields,
            file_path=str(file.path),
            memory_type=file.kind,
            load_reason=file.reason,
            globs=list(file.globs) if file.globs else UNSET,
            trigger_file_path=UNSET if file.trigger is None else str(file.trigger),
            parent_file_path=UNSET if file.parent is None else str(file.parent),
        )
        await hooks.occur(event, file.reason, told=False, of_host=of_host)
