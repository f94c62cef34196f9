"""Giving a session its instructions: where they are looked for, and what reads of files bring."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from claude_wrapper.agent.api.switches import is_on
from claude_wrapper.agent.calls.call import reminder
from claude_wrapper.agent.config.access import Access
from claude_wrapper.agent.config.places import managed_folder, trust_key
from claude_wrapper.agent.context.memory import Memory
from claude_wrapper.agent.context.memory_files import MemoryPlaces
from claude_wrapper.agent.hooking.events import HookEvents
from claude_wrapper.agent.hooking.instructions import instructions_loaded
from claude_wrapper.agent.model.brief import Brief
from claude_wrapper.agent.start.settings import Settings
from claude_wrapper.agent.turns.toolround import ToolRound
from claude_wrapper.agent.turns.turn import Turn
from claude_wrapper.store.paths import config_dir, home_dir, project_key, projects_dir

__all__ = ["read_again", "wire_memory"]


def wire_memory(
    settings: Settings, access: Access, brief: Brief, hooks: HookEvents, tool_round: ToolRound
) -> Memory:
    """The session's instructions; requests and rounds of tools carry them from now on."""
    memory = Memory(lambda: _places(settings, access))

    async def after_reads(turn: Turn) -> list[str]:
        read = [
            Path(str(call.input["file_path"]))
            for call in turn.calls
            if call.name == "Read" and "file_path" in call.input and not turn.results[call.id].is_error
        ]
        found = memory.on_read(read)
        await instructions_loaded(hooks, found, of_host=True)
        return [memory.note(file) for file in found]

    def foreword() -> str | None:
        return None if memory.foreword is None else reminder(memory.foreword)

    brief.foreword = foreword
    tool_round.after_reads = after_reads
    return memory


async def read_again(memory: Memory, hooks: HookEvents) -> None:
    """The conversation goes on from a summary: instructions count as they are written now."""
    found = [
        replace(file, reason="compact") if file.reason == "session_start" else file for file in memory.begin()
    ]
    await instructions_loaded(hooks, found, of_host=True)


def _places(settings: Settings, access: Access) -> MemoryPlaces | None:
    environ = settings.environ
    if settings.memory_sources is None or is_on(settings.environ, "CLAUDE_CODE_DISABLE_CLAUDE_MDS"):
        return None
    wants_added = is_on(settings.environ, "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD")
    excluded = settings.values.get("claudeMdExcludes")
    return MemoryPlaces(
        cwd=settings.cwd,
        home=home_dir(environ),
        config=config_dir(environ),
        managed=managed_folder(),
        sources=settings.memory_sources,
        excluded=tuple(each for each in excluded if isinstance(each, str))
        if isinstance(excluded, list)
        else (),
        added=tuple(Path(each.path) for each in access.policy.directories) if wants_added else (),
        notes=_notes(settings),
    )


def _notes(settings: Settings) -> Path | None:
    """The file of the model's own notes; None where nothing is to be taken from it."""
    off = is_on(settings.environ, "CLAUDE_CODE_DISABLE_AUTO_MEMORY")
    if off or not settings.memory_sources or settings.values.get("autoMemoryEnabled") is False:
        return None
    key = project_key(trust_key(settings.cwd))
    return projects_dir(settings.environ) / key / "memory" / "MEMORY.md"
