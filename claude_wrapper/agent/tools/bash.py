"""The Bash tool: run a shell command and show what it printed."""

from __future__ import annotations

from typing import Any, ClassVar

from .contract import InputRejected, ToolContext, ToolOutput

__all__ = ["Bash"]

_DESCRIPTION = """Run a command in bash and get what it printed, stdout and stderr together.

Use it for builds, tests, version control and programs in general; for reading, writing and \
searching files the other tools are better: they show line numbers, and keep track of what you know. \
A `cd` lasts for later calls as long as it stays within the working folders; variables, functions and \
aliases do not last. There is no terminal and no input, so avoid commands that ask or page. Quote \
paths with spaces. Commands that depend on each other go in one call, joined by `&&`; independent \
ones in several calls of one turn. A command that takes longer than `timeout` is ended, with all it \
has started, unless it can go on in the background. With run_in_background the call does not wait: the \
command's output goes to a file that Read shows, and a later message tells how it ended, so there is no \
need to look again and again. Long output is saved to a file, of which you get the beginning."""


class Bash:
    """Run a shell command and show what it printed."""

    name: ClassVar[str] = "Bash"
    description: ClassVar[str] = _DESCRIPTION
    input_schema: dict[str, Any] = {  # noqa: RUF012  # replaced as a whole, never changed
        "type": "object",
        "properties": {
            "command": {"type": "string", "description": "The command line"},
            "timeout": {
                "type": "number",
                "description": "Milliseconds it may take: 120000 if not given, at most 600000",
            },
            "description": {
                "type": "string",
                "description": "What it does, in five to ten words, for the person watching",
            },
            "run_in_background": {
                "type": "boolean",
                "description": "Do not wait for its end",
            },
            "dangerouslyDisableSandbox": {
                "type": "boolean",
                "description": "Of no effect: there is no sandbox",
            },
        },
        "required": ["command"],
        "additionalProperties": False,
    }

    def stay_in_foreground(self) -> None:
        """Offer nothing that runs in the background."""
        fields = self.input_schema["properties"]
        kept = {name: field for name, field in fields.items() if name != "run_in_background"}
        self.input_schema = {**self.input_schema, "properties": kept}

    def is_read_only(self, tool_input: dict[str, Any]) -> bool:
        from .shell_words import is_harmless  # noqa: PLC0415  # not before the first command

        command = tool_input.get("command")
        return isinstance(command, str) and is_harmless(command)

    def prepare(self, tool_input: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        return dict(tool_input)

    def for_permission(self, tool_input: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        return dict(tool_input)

    async def check(self, tool_input: dict[str, Any], context: ToolContext) -> None:
        if "\0" in tool_input["command"]:
            raise InputRejected("The command holds a NUL character, which no shell can take.")
        if tool_input.get("run_in_background") and context.jobs is None:
            raise InputRejected("Nothing can run in the background here: leave run_in_background out.")

    async def run(self, tool_input: dict[str, Any], context: ToolContext) -> ToolOutput:
        from .bash_call import run_bash  # noqa: PLC0415  # all about processes, not before the first command

        return await run_bash(tool_input, context)
