"""The options of a run: what they are called, and which ones are refused."""

import dataclasses
import importlib
import json
import subprocess
import sys
import typing
import warnings
from pathlib import Path

import pytest

from claude_wrapper.approval import (
    CanUseToolShadowedWarning,
    PermissionRuleValue,
    PermissionUpdate,
)
from claude_wrapper.errors import ClaudeSDKError, OptionsError
from claude_wrapper.hook_matchers import HOOK_EVENTS, HookMatcher
from claude_wrapper.option_conflicts import validate, warn_if_shadowed
from claude_wrapper.option_values import AgentDefinition
from claude_wrapper.options import ClaudeAgentOptions
from claude_wrapper.tools import create_sdk_mcp_server

OFFICIAL = json.loads((Path(__file__).parent / "data/official_types.json").read_text())
"""Fields of the official package's classes (0.2.189)."""

MODULES = "approval hook_inputs hook_matchers hook_outputs mcp_config mcp_status option_values options sandbox tools"

UUID = "11111111-1111-4111-8111-111111111111"


def public(name):
    for module in MODULES.split():
        found = getattr(importlib.import_module(f"claude_wrapper.{module}"), name, None)
        if found is not None:
            return found
    raise AssertionError(f"there is no {name}")


async def callback(*_):
    return {}


class Store:
    async def append(self, key, entries): ...

    async def load(self, key): ...


class ListingStore(Store):
    async def list_sessions(self, _project_key): ...


@pytest.mark.feature("WRAP-01")
@pytest.mark.parametrize("name", OFFICIAL["dataclasses"])
def test_classes_have_the_official_fields_in_the_official_order_with_the_official_defaults(name):
    official = OFFICIAL["dataclasses"][name]
    ours = [[field.name, _default(field)] for field in dataclasses.fields(public(name))]
    assert ours[: len(official)] == official
    # What is ours comes after, and may be left out.
    assert all(default != "required" for _, default in ours[len(official) :])
    assert ours == official or name == "ClaudeAgentOptions"


def _default(field):
    if field.name == "debug_stderr":
        return "sys.stderr"
    if field.default is not dataclasses.MISSING:
        return repr(field.default)
    if field.default_factory is not dataclasses.MISSING:
        return repr(field.default_factory())
    return "required"


@pytest.mark.feature("WRAP-01")
@pytest.mark.parametrize("name", OFFICIAL["typed_dicts"])
def test_dicts_have_the_official_keys(name):
    ours = public(name)
    assert sorted(ours.__required_keys__) == OFFICIAL["typed_dicts"][name]["required"]
    assert sorted(ours.__optional_keys__) == OFFICIAL["typed_dicts"][name]["optional"]


@pytest.mark.parametrize(
    "name", ["ClaudeAgentOptions", "AgentDefinition", "HookMatcher", "ToolPermissionContext"]
)
def test_annotations_can_be_resolved(name):
    assert typing.get_type_hints(public(name))


def test_options_can_be_replaced_and_compared():
    options = ClaudeAgentOptions(model="a")
    assert dataclasses.replace(options, model="b") == ClaudeAgentOptions(model="b")
    assert options.allowed_tools is not ClaudeAgentOptions().allowed_tools


def test_importing_the_options_loads_no_event_loop_and_no_process_machinery():
    program = "import sys, claude_wrapper.options; print([m for m in ('anyio', 'asyncio', 'subprocess', 'jsonschema', 'mcp', 'msgspec') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=30
    )
    assert done.stdout.strip() == "[]"


GOOD = [
    {},
    {"tools": ("Bash",), "allowed_tools": {"Read"}, "betas": ["some-beta"], "max_turns": 0},
    {"max_budget_usd": 1, "permission_mode": "manual", "session_id": UUID, "user": 1000},
    {
        "mcp_servers": {
            "s": {"command": "x"},
            "h": {"type": "http", "url": "u"},
            "w": {"type": "ws", "url": "u"},
        }
    },
    {"mcp_servers": {"calc": create_sdk_mcp_server("calc")}},
    {"mcp_servers": None, "allowed_tools": None, "add_dirs": None, "env": None, "plugins": None},
    {"skills": "all"},
    {"skills": []},
    {"resume": "r", "fork_session": True, "session_id": UUID},
    {"resume": "r", "resume_session_at": "m", "resume_drops_turn": ""},
    {"session_store": ListingStore(), "continue_conversation": True, "resume_session_at": "m"},
    {"session_store": Store(), "continue_conversation": True, "resume": "r"},
    {
        "hooks": {
            event: [HookMatcher(hooks=[callback], timeout=1.5, on_failure="block")] for event in HOOK_EVENTS
        }
    },
    {"thinking": {"type": "adaptive"}, "effort": "max", "task_budget": {"total": 1}},
    {"close_timeout": (0, 1.5), "inherit_env": ["PATH"], "initialize_timeout": 0.1, "control_timeout": None},
    {"output_format": {"type": "json_schema", "schema": {}}},
    {"agents": {"a": AgentDefinition("d", "p", effort=5)}},
    {"plugins": [{"type": "local", "path": Path("/p")}], "add_dirs": [Path("/a"), "/b"]},
]


@pytest.mark.parametrize("options", GOOD, ids=lambda options: ",".join(options) or "none")
def test_good_options_are_accepted(options):
    validate(ClaudeAgentOptions(**options))


BAD = [
    ({"tools": "Bash"}, "tools must be a list of strings, got 'Bash'.*did you mean \\['Bash'\\]"),
    ({"tools": {"type": "preset", "preset": "other"}}, "tools as a dict must be"),
    ({"tools": ["Bash", 1]}, "tools must hold strings only, got 1"),
    ({"allowed_tools": [""]}, r"allowed_tools must hold tools such as Read.*got ''"),
    ({"disallowed_tools": ["Bash(rm"]}, r"disallowed_tools must hold tools.*got 'Bash\(rm'"),
    ({"allowed_tools": 5}, "allowed_tools must be a list of strings, got 5"),
    ({"system_prompt": 5}, "system_prompt must be a string or a dict"),
    ({"system_prompt": {"type": "preset", "preset": "x"}}, "system_prompt as a dict must be"),
    ({"system_prompt": {"type": "custom"}}, "system_prompt needs 'prompt'"),
    ({"system_prompt": {"type": "file"}}, "system_prompt needs 'path'"),
    ({"system_prompt": {"type": "preset", "append": 5}}, "system_prompt needs 'append'"),
    ({"system_prompt": {"prompt": "x"}}, "system_prompt as a dict needs the type"),
    ({"system_prompt": "a\0b"}, "system_prompt holds a NUL character"),
    ({"mcp_servers": ["s"]}, "mcp_servers must be a dict, a path or JSON text"),
    ({"mcp_servers": {"s": "x"}}, r"mcp_servers\['s'\] must be a dict"),
    ({"mcp_servers": {"s": {}}}, "type 'stdio' and needs 'command'"),
    ({"mcp_servers": {"s": {"type": "http"}}}, "type 'http' and needs 'url'"),
    ({"mcp_servers": {"s": {"type": "sdk", "name": "s"}}}, "type 'sdk' and needs 'instance'"),
    (
        {"mcp_servers": {"s": {"type": "htp", "url": "u"}}},
        "unknown type 'htp'.*types are stdio, sse, http, ws",
    ),
    ({"mcp_servers": {"s": {"command": ["x"]}}}, r"\['s'\]\['command'\] must be a string; its arguments"),
    (
        {"mcp_servers": {"s": {"command": "x", "args": "y"}}},
        r"\['args'\] must be a list of strings, got a str",
    ),
    ({"mcp_servers": {"s": {"command": "x", "args": [1]}}}, r"must be a list of strings, got a int in it"),
    ({"mcp_servers": {"s": {"command": "x", "env": {"A": 1}}}}, r"a dict of strings, got a int for 'A'"),
    ({"mcp_servers": {"s": {"type": "http", "url": 5}}}, r"\['url'\] must be a string, got a int"),
    ({"mcp_servers": {"s": {"type": "http", "url": "u", "headers": ["a"]}}}, r"\['headers'\] must be a dict"),
    ({"mcp_servers": {5: {"command": "x"}}}, "maps names to servers, got 5"),
    ({"mcp_servers": "{bad"}, "mcp_servers is no valid JSON text"),
    ({"mcp_servers": create_sdk_mcp_server("s")}, "give this one a name"),
    ({"mcp_servers": {"s": create_sdk_mcp_server("s")["instance"]}}, "what create_sdk_mcp_server"),
    ({"strict_mcp_config": "yes"}, "strict_mcp_config must be True or False, got 'yes'"),
    ({"permission_mode": "yolo"}, "permission_mode must be one of default, acceptEdits"),
    ({"session_id": "not-a-uuid"}, "session_id must be a UUID, got 'not-a-uuid'"),
    ({"session_id": UUID, "resume": "r"}, "session_id names a new session.*fork_session"),
    ({"session_id": UUID, "continue_conversation": True}, "session_id names a new session"),
    ({"resume": 5}, "resume must be a string, got 5"),
    ({"resume_session_at": "m"}, "resume_session_at needs resume"),
    ({"resume_session_at": "m", "continue_conversation": True}, "resume_session_at needs resume"),
    ({"resume": "r", "resume_drops_turn": "t"}, "resume_drops_turn needs resume_session_at"),
    ({"max_turns": "3"}, "max_turns must be a whole number of at least 0, got '3' \\(str\\)"),
    ({"max_turns": -1}, "max_turns must be a whole number"),
    ({"max_turns": True}, "max_turns must be a whole number"),
    ({"max_budget_usd": 0}, "max_budget_usd must be a number greater than 0"),
    ({"max_budget_usd": float("nan")}, "max_budget_usd must be a number greater than 0"),
    ({"model": ["m"]}, "model must be a string"),
    ({"model": "m", "fallback_model": "m"}, "fallback_model is the model itself, 'm'"),
    ({"cwd": 5}, "cwd must be a string or a Path"),
    ({"cli_path": b"/bin/x"}, "cli_path must be a string or a Path"),
    ({"settings": {"a": 1}}, "settings must be a file's path or JSON text, got a dict"),
    ({"add_dirs": "/a"}, "add_dirs must be a list of folders"),
    ({"add_dirs": [5]}, "add_dirs must be a string or a Path"),
    ({"env": {"A": 1}}, "env must map names to strings, got a int for A"),
    ({"env": {"A=B": "x"}}, "env has 'A=B'"),
    ({"env": {"A": "x\0"}}, "env holds a NUL"),
    ({"env": ["A"]}, "env must be a dict, got a list"),
    ({"extra_args": {"--flag": None}}, "flags without their dashes, got '--flag'"),
    ({"extra_args": {"flag": True}}, "got a bool for flag; a flag without a value is None"),
    ({"extra_args": {"output-format": "text"}}, "extra_args cannot set output-format"),
    ({"max_buffer_size": 0}, "max_buffer_size must be a whole number of at least 1"),
    ({"stderr": "file"}, "stderr must be a function"),
    ({"can_use_tool": "ask"}, "can_use_tool must be a function"),
    ({"can_use_tool": callback, "permission_prompt_tool_name": "t"}, "can_use_tool cannot be combined"),
    ({"hooks": [HookMatcher()]}, "hooks must be a dict of events"),
    ({"hooks": {"NoSuchEvent": []}}, "unknown event 'NoSuchEvent'.*PreToolUse.*PermissionRequest"),
    ({"hooks": {"Stop": HookMatcher()}}, r"hooks\['Stop'\] must be a list of HookMatcher"),
    ({"hooks": {"Stop": [callback]}}, "wrap it"),
    ({"hooks": {"Stop": [{"hooks": []}]}}, "must hold HookMatcher objects"),
    ({"hooks": {"Stop": [HookMatcher(matcher=5)]}}, "a matcher that is no string: 5"),
    ({"hooks": {"Stop": [HookMatcher(hooks=callback)]}}, "no list of functions"),
    ({"hooks": {"Stop": [HookMatcher(hooks=[5])]}}, "no list of functions"),
    ({"hooks": {"Stop": [HookMatcher(timeout=0)]}}, "timeout must be a number greater than 0"),
    ({"hooks": {"Stop": [HookMatcher(on_failure="explode")]}}, "on_failure 'explode'"),
    ({"hooks": {"Stop": [HookMatcher(on_failure=["block"])]}}, "on_failure"),
    ({"user": 1.5}, "user must be a user's name"),
    ({"agents": {"a": {"description": "d", "prompt": "p"}}}, "AgentDefinition, got a dict for 'a'"),
    ({"agents": {"a": AgentDefinition("d", 5)}}, r"agents\['a'\].prompt must be a string"),
    ({"agents": {"a": AgentDefinition("d", "p", tools="Read")}}, r"\['a'\].tools must be a list of strings"),
    ({"agents": {"a": AgentDefinition("d", "p", model=5)}}, r"\['a'\].model must be a string, got 5"),
    ({"agents": {"a": AgentDefinition("d", "p", maxTurns="3")}}, r"\['a'\].maxTurns must be a whole number"),
    ({"agents": {"a": AgentDefinition("d", "p", permissionMode="x")}}, r"\['a'\].permissionMode must be one"),
    ({"agents": {"a": AgentDefinition("d", "p", memory="all")}}, r"\['a'\].memory must be one of user"),
    ({"agents": {"a": AgentDefinition("d", "p", background="yes")}}, r"\['a'\].background must be True"),
    ({"agents": {"a": AgentDefinition("d", "p", effort="most")}}, r"\['a'\].effort must be one of low"),
    ({"agents": {"a": AgentDefinition("d", "p", mcpServers="s")}}, r"\['a'\].mcpServers must be a list"),
    ({"setting_sources": ["user", "global"]}, "setting_sources may hold user, project, local; got 'global'"),
    ({"skills": "none"}, r"skills must be a list of names or 'all', got 'none'.*\['none'\]"),
    ({"skills": [""]}, "skills must hold names of skills.*got ''"),
    ({"skills": ["a(b)"]}, r"skills must hold names of skills.*got 'a\(b\)'"),
    ({"skills": ["a,b"]}, "skills must hold names of skills.*got 'a,b'"),
    ({"skills": ["a\n"]}, "skills must hold names of skills"),
    ({"sandbox": True}, "sandbox must be a dict, got a bool"),
    ({"plugins": [{"type": "remote", "path": "p"}]}, "plugins knows only.*'local', got 'remote'"),
    ({"plugins": [{"type": "local"}]}, "plugins.*'path'.* must be a string or a Path"),
    ({"plugins": ["/p"]}, "plugins must hold dicts such as.*got '/p'"),
    ({"plugins": "p"}, "plugins must be a list of dicts"),
    ({"max_thinking_tokens": -1}, "max_thinking_tokens must be a whole number"),
    ({"thinking": {"type": "often"}}, "thinking needs the type"),
    ({"thinking": {"type": ["enabled"]}}, "thinking needs the type"),
    ({"thinking": {"type": "enabled"}}, r"thinking\['budget_tokens'\] must be a whole number"),
    ({"thinking": {"type": "adaptive", "display": "x"}}, "unknown display 'x'"),
    ({"thinking": {"type": "adaptive", "display": ["x"]}}, "unknown display"),
    ({"effort": "extreme"}, "effort must be one of low, medium, high, xhigh, max"),
    ({"output_format": {"type": "text"}}, "output_format must be"),
    ({"output_format": {"type": "json_schema"}}, "output_format must be"),
    ({"session_store": Store}, "session_store must be an object, got the class Store; call it"),
    ({"session_store": object()}, r"session_store needs the method append\(\)"),
    ({"session_store": Store(), "enable_file_checkpointing": True}, "session_store cannot be combined"),
    ({"session_store": Store(), "continue_conversation": True}, r"needs a store with list_sessions\(\)"),
    ({"session_store_flush": "never"}, "session_store_flush must be one of batched, eager"),
    ({"load_timeout_ms": None}, "load_timeout_ms must be a whole number"),
    ({"task_budget": {"total": 0}}, r"task_budget\['total'\] must be a whole number"),
    ({"initialize_timeout": 0}, "initialize_timeout must be a number greater than 0"),
    ({"control_timeout": "60"}, "control_timeout must be a number greater than 0"),
    ({"close_timeout": -1}, "close_timeout must be seconds"),
    ({"close_timeout": (1, 2, 3)}, "close_timeout must be seconds"),
    ({"inherit_env": "PATH"}, "inherit_env must be a list of strings"),
    ({"stderr_tail": -1}, "stderr_tail must be a whole number"),
    ({"debug_stderr": 5}, "debug_stderr must be a stream to write to, got 5"),
    ({"raise_on_api_error": "yes"}, "raise_on_api_error must be True or False, got 'yes'"),
    ({"raise_on_api_error": None}, "raise_on_api_error must be True or False, got None"),
    ({"max_consecutive_tool_errors": 0}, "max_consecutive_tool_errors must be a whole number of at least 1"),
]


@pytest.mark.parametrize(
    ("options", "message"), BAD, ids=[f"{i}-{','.join(o)}" for i, (o, _) in enumerate(BAD)]
)
def test_bad_options_are_refused_by_name_with_what_was_given_and_what_to_give(options, message):
    with pytest.raises(OptionsError, match=message) as caught:
        validate(ClaudeAgentOptions(**options))
    assert isinstance(caught.value, ClaudeSDKError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "m"}, r"must be ClaudeAgentOptions, got a dict; write ClaudeAgentOptions\(\*\*options\)"),
        (ClaudeAgentOptions, "must be ClaudeAgentOptions, got the class ClaudeAgentOptions; call it"),
        (type("ClaudeAgentOptions", (), {})(), "got a ClaudeAgentOptions; import it from claude_wrapper"),
        (5, "must be ClaudeAgentOptions, got a int$"),
    ],
    ids=["dict", "class", "of another package", "number"],
)
def test_what_are_no_options_is_refused_with_what_to_write(options, message):
    with pytest.raises(OptionsError, match=message):
        validate(options)


@pytest.mark.parametrize(
    "options",
    [
        {"mcp_servers": {"s": {"command": ["s3cret"]}}},
        {"mcp_servers": {"s": {"type": "http", "url": ["s3cret"]}}},
        {"mcp_servers": {"s": {"type": "http", "url": "u", "headers": {"A": b"s3cret"}}}},
        {"mcp_servers": "{s3cret"},
        {"env": {"TOKEN": b"s3cret"}},
        {"extra_args": {"token": ["s3cret"]}},
        {"settings": ["s3cret"]},
        {"mcp_servers": {"s": ["s3cret"]}},
        {"mcp_servers": {"s": {"env": {"TOKEN": "s3cret"}}}},
    ],
)
def test_values_that_may_be_secret_are_not_repeated_in_errors(options):
    with pytest.raises(OptionsError) as caught:
        validate(ClaudeAgentOptions(**options))
    assert "s3cret" not in str(caught.value)


SHADOWED = [
    ({"permission_mode": "bypassPermissions"}, "'bypassPermissions' allows every call"),
    ({"allowed_tools": ["Read", "Bash(ls:*)", "mcp__x", "Read"]}, "about Read, mcp__x:"),
    ({"allowed_tools": ["Read(*)", "Bash(*)", "Edit()"]}, "about Read, Bash, Edit:"),
    ({"allowed_tools": ["mcp__s__*", "*"]}, r"about mcp__s__\*, \*:"),
    ({"skills": "all"}, "about Skill:"),
]


@pytest.mark.feature("PERM-25")
@pytest.mark.parametrize(("options", "message"), SHADOWED)
def test_a_permission_callback_that_is_never_asked_is_warned_about(options, message):
    with pytest.warns(CanUseToolShadowedWarning, match=message) as caught:
        warn_if_shadowed(ClaudeAgentOptions(can_use_tool=callback, **options))
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    "options",
    [
        {"can_use_tool": callback},
        {
            "can_use_tool": callback,
            "allowed_tools": ["Bash(ls:*)", "Bash(:*)", "Read(**)", "()", "", "Read (x)"],
        },
        {"can_use_tool": callback, "permission_mode": "dontAsk"},
        {"can_use_tool": callback, "skills": ["a"]},
        {"allowed_tools": ["Read"], "permission_mode": "bypassPermissions"},
    ],
)
def test_a_permission_callback_that_may_be_asked_is_not_warned_about(options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_shadowed(ClaudeAgentOptions(**options))


UPDATES = [
    (
        PermissionUpdate(
            "addRules",
            rules=[PermissionRuleValue("Bash", "ls"), PermissionRuleValue("Read")],
            behavior="allow",
        ),
        {
            "type": "addRules",
            "destination": "session",
            "rules": [{"toolName": "Bash", "ruleContent": "ls"}, {"toolName": "Read"}],
            "behavior": "allow",
        },
    ),
    (
        PermissionUpdate("replaceRules", rules=[], behavior="deny", mode="plan", directories=["x"]),
        {"type": "replaceRules", "destination": "session", "rules": [], "behavior": "deny"},
    ),
    (
        PermissionUpdate("setMode", mode="plan", destination="localSettings"),
        {"type": "setMode", "destination": "localSettings", "mode": "plan"},
    ),
    (
        PermissionUpdate("removeDirectories", directories=[]),
        {"type": "removeDirectories", "destination": "session", "directories": []},
    ),
]


@pytest.mark.parametrize(("update", "body"), UPDATES)
def test_a_permission_update_becomes_what_the_agent_takes(update, body):
    assert update.to_dict() == body
    assert PermissionUpdate.from_dict({**body, "later": 1}).to_dict() == body


@pytest.mark.parametrize(
    ("update", "message"),
    [
        (PermissionUpdate("addRules", behavior="allow"), "has no rules"),
        (PermissionUpdate("addRules", rules=[]), "has no behavior"),
        (PermissionUpdate("setMode"), "has no mode"),
        (PermissionUpdate("addDirectories"), "has no directories"),
        (PermissionUpdate("inventRules"), "has the type 'inventRules'; known are addRules"),
    ],
)
def test_an_incomplete_permission_update_is_not_sent(update, message):
    with pytest.raises(ValueError, match=message):
        update.to_dict()
