"""Which types of subagents a session has, where several sources may define the same one."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from claude_wrapper.agent.config.places import is_trusted
from claude_wrapper.agent.start.settings import Settings
from claude_wrapper.wire.config import AgentDefinitionBody

from .builtin import BUILT_IN
from .definition import AgentDefinition, defined, from_wire
from .files import folders_of, read_folder, user_folder

__all__ = ["Roster"]

_log = logging.getLogger("claude_wrapper.agent")


class Roster:
    """Finds definitions. The host's go before the project's, and those before the user's."""

    def __init__(self, settings: Settings) -> None:
        self._built_in = () if _without_built_in(settings) else BUILT_IN
        self._of_files: dict[str, AgentDefinition] = {}
        self._brought = {
            name: defined(name, fields, str(fields["prompt"])) for name, fields in settings.subagents.items()
        }
        self._settings = settings
        self.read_files()

    def read_files(self) -> None:
        """Take in what the files say now."""
        settings = self._settings
        self._of_files = {}
        if not settings.agent_files:
            return
        folders = folders_of(
            settings.cwd,
            settings.environ,
            user="user" in settings.agent_files,
            project="project" in settings.agent_files,
        )
        for folder in folders:
            self._of_files.update(
                (each.name, self._without_foreign_hooks(each, folder)) for each in read_folder(folder)
            )

    def _without_foreign_hooks(self, definition: AgentDefinition, folder: Path) -> AgentDefinition:
        """A folder that nobody trusts has subagents, and they bring no hooks."""
        settings = self._settings
        if definition.hooks is None or folder == user_folder(settings.environ):
            return definition
        if is_trusted(settings.environ, settings.cwd):
            return definition
        return msgspec.structs.replace(definition, hooks=None)

    def bring(self, agents: Mapping[str, AgentDefinitionBody]) -> None:
        """Take in what the host defines."""
        self._brought.update(
            (name, from_wire(name, body)) for name, body in agents.items() if _is_right(name, body)
        )

    @property
    def definitions(self) -> dict[str, AgentDefinition]:
        """All types by name."""
        own: Iterable[AgentDefinition] = self._built_in
        return {each.name: each for each in own} | self._of_files | self._brought

    def find(self, name: str) -> AgentDefinition | None:
        """The type of this name."""
        return self.definitions.get(name)

    @property
    def names(self) -> list[str]:
        """The names of all types, as frames list them."""
        return list(self.definitions)

    def described(self, types: frozenset[str] | None) -> list[tuple[str, str]]:
        """Names and descriptions, of these types only if any are named."""
        return [
            (each.name, each.description)
            for each in self.definitions.values()
            if types is None or each.name in types
        ]

    def listing(self) -> list[dict[str, Any]]:
        """The types as hosts are told of them."""
        return [
            {"name": each.name, "description": each.description}
            | ({} if each.model is None else {"model": each.model})
            for each in self.definitions.values()
        ]


def _is_right(name: str, body: AgentDefinitionBody) -> bool:
    """Whether the hooks that a definition brings are such; a part of them is not to be missing."""
    if not body.hooks:
        return True
    from claude_wrapper.agent.hooks.section import fault_of  # noqa: PLC0415  # few bring any

    fault = fault_of(body.hooks, name, known_events=True)
    if fault is not None:
        _log.warning("the subagent %s is left out: %s", name, fault)
    return fault is None


def _without_built_in(settings: Settings) -> bool:
    return settings.environ.get("CLAUDE_AGENT_SDK_DISABLE_BUILTIN_AGENTS", "").lower() in {"1", "true"}
