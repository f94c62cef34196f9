"""The command `run`: an agent works on a prompt until it is done."""

from __future__ import annotations

import argparse

from claude_wrapper.option_values import SystemPromptPreset
from claude_wrapper.options import ClaudeAgentOptions

from .complaints import complaint
from .ending import Ending
from .exits import Exit
from .following import follow
from .prompt_text import PromptError, read_prompt
from .stderr_text import error
from .view import View
from .view_choice import json_view, text_view

__all__ = ["run"]

_OWN_PROMPT: SystemPromptPreset = {"type": "preset", "preset": "claude_code"}


def run(arguments: argparse.Namespace) -> int:
    """Run an agent as the command line says and return the exit code."""
    try:
        prompt = read_prompt(arguments.prompt)
    except PromptError as reason:
        error(f"error: {reason}")
        return Exit.USAGE
    view = _view(arguments)
    ending = follow(prompt, _options(arguments, view), view, arguments.timeout)
    if text := complaint(ending):
        error(text)
    elif hint := _hint(ending):
        view.note(hint)
    return ending.exit_code


def _view(arguments: argparse.Namespace) -> View:
    if arguments.json or arguments.stream_json:
        return json_view(everything=arguments.stream_json)
    return text_view(quiet=arguments.quiet)


def _options(arguments: argparse.Namespace, view: View) -> ClaudeAgentOptions:
    return ClaudeAgentOptions(
        model=arguments.model,
        cwd=arguments.cwd,
        allowed_tools=arguments.allow,
        disallowed_tools=arguments.deny,
        permission_mode=arguments.permission_mode,
        max_turns=arguments.max_turns,
        max_budget_usd=arguments.max_budget_usd,
        system_prompt=_OWN_PROMPT if arguments.system_prompt is None else arguments.system_prompt,
        resume=arguments.resume,
        cli_path=arguments.agent,
        include_partial_messages=view.wants_pieces,
    )


def _hint(ending: Ending) -> str:
    """Say how calls that were refused can be allowed."""
    denials = (ending.result.permission_denials if ending.result else None) or []
    tools = sorted({str(d.get("tool_name")) for d in denials if isinstance(d, dict)})
    if not tools:
        return ""
    return f"Not allowed: {', '.join(tools)}. Allow calls with --allow RULE or --permission-mode MODE."
