"""The host's first request: taking in what it brings, and telling it what the agent is."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, UnsetType

from claude_wrapper.agent.api.catalog import find_model, load_catalog
from claude_wrapper.agent.api.naming import provider_name
from claude_wrapper.agent.api.providers import key_source
from claude_wrapper.agent.calls.structured import SchemaError, StructuredOutput, check_schema
from claude_wrapper.agent.calls.toolbox import ToolSource
from claude_wrapper.agent.hooks.registry import HookRegistry
from claude_wrapper.agent.mcp.server_shape import complaint, with_usual_kind
from claude_wrapper.agent.start.mcp_servers import GivenServer
from claude_wrapper.agent.turns.custom_commands import listed_commands
from claude_wrapper.agent.turns.parts import Parts
from claude_wrapper.agent.version import AGENT_VERSION, COMPATIBLE_VERSION
from claude_wrapper.link.peer import Answer, RequestRefusedError
from claude_wrapper.wire.replies_steer import AccountInfo, InitializeReply, ModelInfo
from claude_wrapper.wire.requests_steer import Initialize

__all__ = ["CAPABILITIES", "initialize", "models", "offer_structured_output"]

CAPABILITIES = [
    "interrupt_receipt_v1",
    "interrupt_cancel_queued_v1",
    "msg_lifecycle_v1",
    "sdk_mcp_manifests",
    f"agent:claude-wrapper/{AGENT_VERSION}",
]
"""What hosts may rely on, by the names that they look for; the last one says which agent this really is."""

_LISTED_MODELS = ("default", "opus", "sonnet", "haiku")


async def initialize(parts: Parts, hooks: HookRegistry, request: Initialize) -> Answer:
    """Take in what the host brings and answer it."""
    if isinstance(request.json_schema, dict):
        try:
            check_schema(request.json_schema)
        except SchemaError as error:
            raise RequestRefusedError(f"The jsonSchema is not a valid JSON Schema: {error}") from error
        offer_structured_output(parts, request.json_schema)
    brought_hooks = isinstance(request.hooks, dict)
    if brought_hooks:
        hooks.replace_host_hooks(request.hooks if isinstance(request.hooks, dict) else None)
    parts.brief.use_prompt(
        request.system_prompt if isinstance(request.system_prompt, list) else None,
        request.append_system_prompt if isinstance(request.append_system_prompt, str) else None,
    )
    parts.suggest = parts.suggest or request.prompt_suggestions is True
    if isinstance(request.tool_aliases, dict):
        parts.toolbox.know_aliases(request.tool_aliases)
    if isinstance(request.title, str) and request.title:
        parts.session.set_title(request.title)
        parts.frames.title_changed(request.title)
    if parts.subagents is not None:
        agents = request.agents if isinstance(request.agents, dict) else {}
        parts.subagents.bring(agents, forward_text=request.forward_subagent_text is True)
    applied = _take_servers(parts, request)
    parked = await _connect_servers(parts, request)
    return Answer(
        _reply(parts, hooks_applied=brought_hooks, applied=applied, parked=parked),
        pending_permission_requests=[],
        pending_user_dialog_requests=[],
    )


def offer_structured_output(parts: Parts, schema: dict[str, Any]) -> None:
    """Let the model hand the answer in as structured data."""
    parts.toolbox.add([StructuredOutput(schema)], ToolSource(ends_run=True))
    parts.structured = True


def _take_servers(parts: Parts, request: Initialize) -> bool:
    """Take in the servers that a host brings which is waited for; whether it brought any."""
    if not parts.settings.await_initialize or not isinstance(request.mcp_servers, dict):
        return False
    for name, config in request.mcp_servers.items():
        wrong = complaint(name, config)
        if wrong is not None:
            parts.servers.errors.append(wrong)
        elif parts.settings.mcp.policy.lets(name, config):
            parts.servers.add_given({name: GivenServer(with_usual_kind(config))})
    return True


async def _connect_servers(parts: Parts, request: Initialize) -> dict[str, str] | UnsetType:
    """Take in the servers that run in the host and begin their handshakes.

    The first message to each goes out ahead of the answer; the rest of the handshake does not
    hold the answer up, since a host may not talk to its servers before it has it.
    """
    configs = request.sdk_mcp_server_configs if isinstance(request.sdk_mcp_server_configs, dict) else {}
    for name in request.sdk_mcp_servers if isinstance(request.sdk_mcp_servers, list) else []:
        config = configs.get(name)
        timeout = config.timeout if config is not None else UNSET
        parts.servers.add_host_server(name, timeout / 1000 if isinstance(timeout, int | float) else None)
    parked: dict[str, str] | UnsetType = UNSET
    if isinstance(request.sdk_mcp_server_manifests, dict):
        parked = {
            name: parts.servers.adopt_manifest(
                name,
                manifest.initialize_result,
                manifest.tools_list_result if isinstance(manifest.tools_list_result, dict) else None,
            )
            for name, manifest in request.sdk_mcp_server_manifests.items()
        }
    await parts.servers.greet()
    return parked


def _reply(
    parts: Parts, *, hooks_applied: bool, applied: bool, parked: dict[str, str] | UnsetType
) -> InitializeReply:
    settings = parts.settings
    return InitializeReply(
        commands=listed_commands(parts.settings, parts.servers),
        agents=[] if parts.subagents is None else parts.subagents.roster.listing(),
        models=models(settings.environ),
        account=AccountInfo(
            token_source="none",  # noqa: S106  # the name of a place
            api_key_source=key_source(settings.environ, settings.api_key_helper),
            api_provider=provider_name(settings.environ),
        ),
        output_style="default",
        available_output_styles=["default"],
        pid=os.getpid(),
        claude_code_version=COMPATIBLE_VERSION,
        current_permission_mode=parts.access.mode,
        session_state=parts.frames.state,
        hooks_applied=True if hooks_applied else UNSET,
        hook_on_failure_supported=True,
        mcp_servers_applied=True if applied else UNSET,
        sdk_mcp_manifests_parked=parked,
        fast_mode_state="off",
        capabilities=CAPABILITIES,
        analytics_disabled=True,
        sandbox_enabled=False,
    )


def models(environment: Mapping[str, str]) -> list[ModelInfo]:
    """The models that hosts may offer."""
    listed = []
    for value in _LISTED_MODELS:
        if value not in load_catalog().aliases:
            continue
        model = find_model(value, environment)
        listed.append(
            ModelInfo(
                value=value,
                resolved_model=model.name,
                display_name="Default" if value == "default" else value.capitalize(),
                description=f"{model.name}, {model.context_window:,} tokens of context",
                supports_effort=bool(model.facts.efforts),
                supported_effort_levels=list(model.facts.efforts) or UNSET,
                supports_adaptive_thinking=model.facts.thinking == "adaptive",
                supports_thinking_off=model.facts.thinking_off != "never",
            )
        )
    return listed
