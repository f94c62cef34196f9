"""Commands of the user's own: a prompt that gives one becomes the text of its file."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from claude_wrapper.agent.calls.call import reminder
from claude_wrapper.agent.calls.mcp_servers import McpServers
from claude_wrapper.agent.config.access import Access
from claude_wrapper.agent.config.places import project_folders
from claude_wrapper.agent.context.command_files import CommandFile, command_files
from claude_wrapper.agent.hooking.events import HookEvents, ToolEvent
from claude_wrapper.agent.hooks.outcome import Outcome
from claude_wrapper.agent.host.prompts import Prompt
from claude_wrapper.agent.ids import new_uuid
from claude_wrapper.agent.permissions.call import Call
from claude_wrapper.agent.sessions.session import Session
from claude_wrapper.agent.start.settings import Settings
from claude_wrapper.agent.tools.contract import ToolContext, ToolFailure
from claude_wrapper.store.paths import config_dir
from claude_wrapper.wire.hook_turn_inputs import UserPromptExpansionInput

if TYPE_CHECKING:
    from claude_wrapper.agent.calls.mcp_prompts import ServerPrompt

__all__ = [
    "CommandBlockedError",
    "CommandFailedError",
    "CustomCommands",
    "Expansion",
    "commands_of",
    "listed_commands",
]

_log = logging.getLogger("claude_wrapper.agent")

_FORM = re.compile(r"/([^\s/]\S*)(?:\s+(.*))?", re.DOTALL)
_SECONDS = 120
_OFF = "[shell command execution disabled by policy]"


class CommandBlockedError(Exception):
    """A hook does not let a command become a prompt; the text is for the user."""


class CommandFailedError(Exception):
    """The command goes no further; the text says why. `head` is how it is kept, if not as it was written."""

    head: str | None = None
    shown: tuple[str, str] | None = None
    """Of a prompt of a server: the name by which people are shown it, and its arguments."""


class Expansion(msgspec.Struct, frozen=True):
    """What a command stands for: how it is kept, and what the model reads."""

    head: str
    body: str
    notes: tuple[str, ...] = ()


def commands_of(settings: Settings) -> dict[str, CommandFile]:
    """The commands that a run has."""
    sources = settings.memory_sources
    if sources is None or settings.no_commands:
        return {}
    places: list[tuple[str, Path]] = []
    if "userSettings" in sources:
        places.append(("userSettings", config_dir(settings.environ)))
    if "projectSettings" in sources:
        places += [("projectSettings", folder / ".claude") for folder in project_folders(settings.cwd)]
    return command_files(places)


def listed_commands(settings: Settings, servers: McpServers) -> list[dict[str, Any]]:
    """The commands that users may give, as hosts list them: those in files, and the prompts of servers."""
    listed = [
        (file, f"{file.description} ({'user' if file.source == 'userSettings' else 'project'})")
        for file in commands_of(settings).values()
        if file.for_users
    ]
    prompts: list[Any] = [(each, each.description) for each in servers.prompts().values()]
    return [
        {"name": each.name, "description": description, "argumentHint": each.argument_hint}
        for each, description in (*listed, *prompts)
    ]


class CustomCommands:
    """Makes prompts of them. Their files are read anew for each."""

    def __init__(
        self,
        settings: Settings,
        access: Access,
        hooks: HookEvents,
        session: Session,
        context: ToolContext,
        servers: McpServers,
    ) -> None:
        self._servers = servers
        self._settings = settings
        self._access = access
        self._hooks = hooks
        self._session = session
        self._context = context

    async def expand(self, prompt: Prompt) -> Expansion | None:
        """What the command in a prompt stands for, None if there is none. Raises both errors."""
        found = None if prompt.as_written else _FORM.fullmatch(prompt.text.rstrip())
        if found is None:
            return None
        prompt_of_server = self._servers.prompts().get(found[1])
        if prompt_of_server is not None:
            return await _prompted(prompt_of_server, found[2] or "")
        file = commands_of(self._settings).get(found[1])
        if file is None:
            return None
        if not file.for_users:
            raise CommandFailedError(
                f"/{file.name} is for the model to use. Say what you want, and it will use it where it fits."
            )
        arguments = found[2] or ""
        outcome = await self._ask_hooks(file, arguments, prompt.text)
        head = _head(file.name, arguments)
        try:
            body = await self._body(file, arguments)
        except CommandFailedError as failure:
            failure.head = head
            raise
        self._join_hooks(file)
        return Expansion(head, body, tuple(reminder(text) for text in outcome.contexts))

    async def _ask_hooks(self, file: CommandFile, arguments: str, text: str) -> Outcome:
        hooks = self._hooks
        event = UserPromptExpansionInput(
            **hooks.fields.in_turn(),
            expansion_type="slash_command",
            command_name=file.name,
            command_args=arguments,
            command_source=file.source,
            prompt=text,
        )
        outcome = await hooks.occur(event, file.name)
        if outcome.block is not None or outcome.stop:
            reason = outcome.block or outcome.stop_reason or "no reason given"
            raise CommandBlockedError(f"UserPromptExpansion operation blocked by hook:\n{reason}")
        return outcome

    def _join_hooks(self, file: CommandFile) -> None:
        """The hooks that a command brings are there for the rest of the session."""
        section = file.fields.get("hooks")
        if section is None:
            return
        from claude_wrapper.agent.hooks.section import read_section  # noqa: PLC0415  # few bring any

        hooks, problems = read_section(section, f"/{file.name}")
        for problem in problems:
            _log.warning("%s", problem.text)
        self._hooks.runner.registry.join(hooks)

    async def _body(self, file: CommandFile, arguments: str) -> str:
        from claude_wrapper.agent.context.command_text import filled_in, shell_parts  # noqa: PLC0415  # start-up

        settings = self._settings
        variables = {
            "CLAUDE_SESSION_ID": self._session.id,
            "CLAUDE_PROJECT_DIR": str(settings.cwd),
        }
        if file.folder is not None:
            variables["CLAUDE_SKILL_DIR"] = str(file.folder)
        pieces: list[str] = []
        any_used = False
        # What stands in an argument is no command to be run: the file is taken apart before they are put in.
        for written, command in shell_parts(file.body):
            text, used = filled_in(command or written, arguments, file.argument_names, variables)
            any_used = any_used or used
            pieces.append(text if command is None else await self._output(text, written))
        body = "".join(pieces)
        if arguments and not any_used:
            body += f"\n\nARGUMENTS: {arguments}"
        return body if file.folder is None else f"Base directory for this skill: {file.folder}\n\n{body}"

    async def _ask_guards(self, tool_input: dict[str, Any], written: str) -> None:
        """Hooks that guard Bash guard these commands, too; one that they would change or ask about does not run."""
        outcome = await self._hooks.before_tool(ToolEvent(new_uuid(), "Bash", tool_input, None))
        objects = outcome.stop or outcome.block is not None or outcome.updated_input is not None
        if objects or outcome.decision not in (None, "allow"):
            why = outcome.block or outcome.reason or outcome.stop_reason or "no reason given"
            raise CommandFailedError(f'A PreToolUse hook does not let "{written}" run as it is: {why}')

    async def _output(self, command: str, written: str) -> str:
        """What a command in the text prints; it runs only where rules allow it without a question."""
        from claude_wrapper.agent.permissions.decide import decide  # noqa: PLC0415  # loads the shell's grammar
        from claude_wrapper.agent.tools.bash import Bash  # noqa: PLC0415  # few texts have commands

        context = self._context
        if self._settings.values.get("disableSkillShellExecution") is True:
            return _OFF
        tool_input = {"command": command, "timeout": _SECONDS * 1000}
        call = Call("Bash", tool_input, context.cwd, tuple(context.working_dirs()))
        decision = decide(call, self._access.policy)
        if decision.behavior != "allow":
            why = decision.message or decision.reason or "it is not allowed"
            raise CommandFailedError(f'Shell command permission check failed for pattern "{written}": {why}')
        await self._ask_guards(tool_input, written)
        try:
            result = await Bash().run(tool_input, context)
        except ToolFailure as failure:
            text = f'Shell command failed for pattern "{written}": {failure.text}'
            raise CommandFailedError(text) from failure
        return result.content if isinstance(result.content, str) else ""


async def _prompted(prompt: ServerPrompt, arguments: str) -> Expansion:
    """What a server makes of one of its prompts; raises CommandFailedError."""
    from claude_wrapper.agent.calls.mcp_prompts import PromptFailedError  # noqa: PLC0415  # start-up

    try:
        return Expansion(_head(prompt.name, arguments), await prompt.text(arguments))
    except PromptFailedError as error:
        failure = CommandFailedError(f"Error: {error}")
        failure.shown = (f"{prompt.shown_name} (MCP)", arguments)
        raise failure from error


def _head(name: str, arguments: str) -> str:
    head = f"<command-message>{name}</command-message>\n<command-name>/{name}</command-name>"
    return f"{head}\n<command-args>{arguments}</command-args>" if arguments else head
