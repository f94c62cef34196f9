"""The public surface is that of the package ours takes the place of: same names, kinds, fields, defaults, parameters."""

import dataclasses
import inspect
import json
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import claude_wrapper
from claude_wrapper import types
from claude_wrapper.options import ClaudeAgentOptions

NAMES = json.loads((Path(__file__).parent / "public_names.json").read_text())["names"]

OURS = {
    "AbortedError": "a branch of ResultError: the turn was interrupted",
    "AccountInfo": "the shape of an answer to a request that only we have",
    "AgentExitedError": "the agent ended while something waited for it",
    "AgentInfo": "the shape of an answer",
    "AgentPool": "agents started ahead, so that nobody waits for one; users of the official SDK ask for it",
    "AgentStartError": "an executable was found but could not be started",
    "ApiError": "a branch of ResultError: the model's API failed or refused; the next ones say how",
    "AuthenticationError": "a branch of ApiError",
    "BudgetExceededError": "a branch of ResultError",
    "ClientUseError": "a client was used in another event loop, a fork, or by two readers; the official one hangs or mixes",
    "CommandInfo": "the shape of an answer",
    "ContextLengthError": "a branch of ApiError",
    "ControlError": "the agent refused a control request; the official one raises a bare Exception",
    "ControlTimeoutError": "a control request was not answered in time",
    "FrameTooLargeError": "a branch of CLIJSONDecodeError",
    "IdleTimeoutError": "the option idle_timeout has stopped the agent",
    "IncompleteTurnError": "the agent ended without a result; the official one ends as if all were well",
    "InterruptResult": "the shape of an answer",
    "MaxTurnsError": "a branch of ResultError",
    "McpSetServersResult": "the shape of an answer",
    "MessageParseError": "exported, since our users meet it",
    "ModelInfo": "the shape of an answer",
    "ModelNotFoundError": "a branch of ApiError",
    "NoProgressError": "the option max_consecutive_tool_errors has stopped the agent",
    "OptionsError": "names the option that is wrong",
    "OverloadedError": "a branch of ApiError",
    "RateLimitError": "a branch of ApiError",
    "ReloadPluginsResult": "the shape of an answer",
    "RewindFilesResult": "the shape of an answer",
    "RunTimeoutError": "the option timeout has stopped the agent",
    "SessionNotFoundError": "a branch of ResultError",
    "SessionStoreError": "says which call of the user's store failed, before an agent is started",
    "SessionUsage": "the shape of a part of UsageReport",
    "SettingsInForce": "the shape of an answer",
    "StructuredOutputError": "says why a result is no value of the type that was asked for",
    "TaskOutput": "the shape of an answer",
    "UnknownBlock": "a block of a kind that came after this version",
    "UnknownMessage": "a frame of a kind that came after this version",
    "UsageReport": "the shape of an answer",
    "WarmAgent": "an agent that is started before its prompt is there; the TypeScript SDK has one",
    "output_format": "the option of that name from a Python type, so that nobody writes the schema by hand",
    "startup": "starts a WarmAgent",
    "structured_result": "the way back: the checked value of that type",
}
"""Names that only we have, each with its reason."""

OUR_OPTIONS = {
    *("initialize_timeout", "control_timeout", "close_timeout", "timeout", "idle_timeout"),
    *("inherit_env", "stderr_tail", "raise_on_api_error", "max_consecutive_tool_errors"),
}
"""Options that only we have; they stand behind the others and change nothing unless set."""

OF_ASKING = {"timeout": "bounds this one call; the official one waits 60 seconds, whatever the user wants"}

OUR_PARAMETERS = {
    "ClaudeSDKClient.interrupt": {
        **OF_ASKING,
        "cancel_queued": "takes back the prompts that wait, which would run next",
    },
    "ClaudeSDKClient.rewind_files": {
        **OF_ASKING,
        "dry_run": "says what a rewind would do, and whether it can",
    },
    "ClaudeSDKClient.get_context_usage": {**OF_ASKING, "detail": "leaves out what only a screen needs"},
    **{
        f"ClaudeSDKClient.{method}": OF_ASKING
        for method in (
            *("set_permission_mode", "set_model", "reconnect_mcp_server", "toggle_mcp_server", "stop_task"),
            "get_mcp_status",
        )
    },
}
"""Parameters that only we have, each with its reason; they are keywords and may be left out."""


def of_kind(*kinds):
    return sorted(name for name, entry in NAMES.items() if entry["kind"] in kinds)


@pytest.mark.feature("WRAP-01")
def test_every_name_is_there_and_no_other_without_a_reason():
    assert set(claude_wrapper.__all__) == set(NAMES) | set(OURS)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_name_is_importable_from_the_package_and_from_its_types(name):
    value = getattr(claude_wrapper, name)

    if name != "__version__":
        assert getattr(types, name) is value
    assert name in dir(claude_wrapper)


def default_of(field):
    if field.default is not dataclasses.MISSING:
        return "sys.stderr" if field.default is sys.stderr else repr(field.default)
    if field.default_factory is not dataclasses.MISSING:
        return f"{field.default_factory.__name__}()"
    return "required"


@pytest.mark.parametrize("name", of_kind("dataclass"))
@pytest.mark.feature("WRAP-01")
def test_a_dataclass_has_the_same_fields_in_the_same_order_with_the_same_defaults(name):
    cls = getattr(claude_wrapper, name)
    wanted = {field: entry["default"] for field, entry in NAMES[name]["fields"].items()}

    fields = [f for f in dataclasses.fields(cls) if not (cls is ClaudeAgentOptions and f.name in OUR_OPTIONS)]

    assert dataclasses.is_dataclass(cls)
    assert [f.name for f in fields] == list(wanted)
    assert {f.name: default_of(f) for f in fields} == wanted


@pytest.mark.parametrize("name", of_kind("dataclass"))
def test_a_dataclass_descends_from_the_same_classes(name):
    bases = {base.__name__ for base in getattr(claude_wrapper, name).__mro__}
    assert set(NAMES[name]["bases"]) <= bases


def test_our_own_options_stand_behind_the_others():
    fields = [f.name for f in dataclasses.fields(ClaudeAgentOptions)]
    assert set(fields[-len(OUR_OPTIONS) :]) == OUR_OPTIONS


@pytest.mark.parametrize("name", of_kind("TypedDict"))
def test_a_typed_dict_has_the_same_keys_and_needs_the_same_ones(name):
    cls = getattr(claude_wrapper, name)

    assert typing.is_typeddict(cls)
    assert set(typing.get_type_hints(cls)) == set(NAMES[name]["fields"])
    assert sorted(cls.__required_keys__) == NAMES[name]["required"]


@pytest.mark.parametrize("name", of_kind("exception"))
def test_an_exception_is_caught_by_the_same_clauses_and_made_in_the_same_way(name):
    cls = getattr(claude_wrapper, name)
    wanted = parameters_of_text(NAMES[name]["init"])

    assert set(NAMES[name]["bases"]) <= {base.__name__ for base in cls.__mro__}
    if wanted != ["self", "args", "kwargs"]:
        assert list(inspect.signature(cls.__init__).parameters)[: len(wanted)] == wanted


def parameters_of_text(text):
    """The parameter names of a signature in text form; annotations may hold commas."""
    names, depth, part = [], 0, ""
    for character in text[text.index("(") + 1 :]:
        if character == ")" and depth == 0:
            break
        depth += (character in "[(") - (character in ")]")
        if character == "," and depth == 0:
            names.append(part)
            part = ""
        else:
            part += character
    parts = [p.split(":")[0].split("=")[0].strip().lstrip("*") for p in [*names, part]]
    return [p for p in parts if p and p != "/"]


def takes(function, ours=()):
    return [name for name in inspect.signature(function).parameters if name not in ours]


@pytest.mark.parametrize("name", of_kind("function", "async function", "async generator"))
def test_a_function_takes_the_same_parameters_and_is_of_the_same_kind(name):
    function, entry = getattr(claude_wrapper, name), NAMES[name]

    assert takes(function) == parameters_of_text(entry["signature"])
    assert inspect.iscoroutinefunction(function) == (entry["kind"] == "async function")
    # `query` gives something with the methods of an async generator, of which event loops do not complain
    # when it is left early.
    assert not inspect.isasyncgenfunction(function)


@pytest.mark.parametrize("name", of_kind("class"))
@pytest.mark.feature("WRAP-01", "WRAP-05")
def test_a_class_has_the_same_methods_with_the_same_parameters(name):
    cls, entry = getattr(claude_wrapper, name), NAMES[name]
    for method, signature in entry.get("methods", {}).items():
        ours = OUR_PARAMETERS.get(f"{name}.{method}", ())
        assert takes(getattr(cls, method), ours) == parameters_of_text(signature), method


@pytest.mark.parametrize("path", sorted(OUR_PARAMETERS))
def test_our_own_parameters_are_keywords_that_may_be_left_out(path):
    cls, method = path.split(".")
    parameters = inspect.signature(getattr(getattr(claude_wrapper, cls), method)).parameters

    for name in OUR_PARAMETERS[path]:
        assert parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert parameters[name].default is not inspect.Parameter.empty


@pytest.mark.parametrize("name", of_kind("alias"))
def test_an_alias_means_the_same(name):
    value = getattr(claude_wrapper, name)
    if name == "__version__":
        return
    wanted = NAMES[name]["value"]
    if typing.get_origin(value) is typing.Literal:
        assert f"Literal[{', '.join(map(repr, typing.get_args(value)))}]" == wanted
    elif wanted.startswith("["):
        assert sorted(value) == eval(wanted)  # a list of strings, from our own file
    elif " | " in wanted and not wanted.startswith(("collections", "Literal")):
        assert {getattr(a, "__name__", "") for a in typing.get_args(value)} == set(wanted.split(" | "))


def test_names_load_on_first_use():
    code = (
        "import sys, claude_wrapper; print(sorted(m for m in sys.modules if m.startswith('claude_wrapper')))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "['claude_wrapper']"


def test_a_name_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = claude_wrapper.no_such_name
