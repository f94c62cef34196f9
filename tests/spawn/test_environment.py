"""The environment that an agent is started with."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from claude_wrapper.options import ClaudeAgentOptions
from claude_wrapper.spawn.environment import SDK_VERSION, build_environment

OWN = {
    "CLAUDE_CODE_ENTRYPOINT": "sdk-py",
    "CLAUDE_AGENT_SDK_VERSION": SDK_VERSION,
    "CLAUDE_CODE_SDK_READS_SESSION_STATE": "1",
}


def environment(environ, **options):
    return build_environment(ClaudeAgentOptions(**options), environ)


@pytest.mark.feature("WRAP-07")
def test_the_inherited_variables_and_our_own_are_given():
    assert environment({"PATH": "/bin", "HOME": "/h"}) == {"PATH": "/bin", "HOME": "/h", **OWN}


@pytest.mark.feature("WRAP-07")
def test_the_mark_of_an_agents_shell_is_not_inherited_but_may_be_set():
    assert "CLAUDECODE" not in environment({"CLAUDECODE": "1"})
    assert environment({"CLAUDECODE": "1"}, env={"CLAUDECODE": "9"})["CLAUDECODE"] == "9"


@pytest.mark.feature("WRAP-07")
def test_what_the_options_set_counts_before_what_is_inherited():
    env = environment(
        {"A": "1", "B": "1", "CLAUDE_CODE_ENTRYPOINT": "inherited"},
        env={"B": "2", "CLAUDE_CODE_ENTRYPOINT": "mine", "CLAUDE_AGENT_SDK_VERSION": "0"},
    )
    assert env["A"] == "1"
    assert env["B"] == "2"
    assert env["CLAUDE_CODE_ENTRYPOINT"] == "mine"
    assert env["CLAUDE_AGENT_SDK_VERSION"] == SDK_VERSION
    assert environment({"CLAUDE_CODE_ENTRYPOINT": "inherited"})["CLAUDE_CODE_ENTRYPOINT"] == "sdk-py"


def test_the_session_state_may_be_switched_off_by_a_variable_of_any_case():
    name = "CLAUDE_CODE_SDK_READS_SESSION_STATE"
    assert environment({name: "0"})[name] == "0"
    env = environment({}, env={name.lower(): "0"})
    assert name not in env


def test_options_that_are_variables_become_them(tmp_path):
    env = environment({}, enable_file_checkpointing=True, client_app="app/1", cwd=tmp_path)
    assert env["CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"] == "true"
    assert env["CLAUDE_AGENT_SDK_CLIENT_APP"] == "app/1"
    assert env["PWD"] == str(tmp_path)
    assert environment({}, cwd="sub")["PWD"] == str(Path.cwd() / "sub")


def test_inheriting_can_be_limited_to_names_or_switched_off():
    environ = {"PATH": "/bin", "SECRET": "x", "HOME": "/h"}
    assert environment(environ, inherit_env=False) == OWN
    assert environment(environ, inherit_env=["PATH", "ABSENT"]) == {"PATH": "/bin", **OWN}
    assert environment(environ, inherit_env=False, env={"A": "1"}) == {"A": "1", **OWN}


@pytest.mark.feature("EXT-07")
def test_opentelemetry_is_not_loaded_for_its_own_sake():
    program = "import sys; from claude_wrapper.spawn.environment import build_environment as b\n"
    program += "from claude_wrapper.options import ClaudeAgentOptions as O; b(O(), {}); print('opentelemetry' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=30
    )
    assert done.stdout.strip() == "False"


@pytest.mark.feature("EXT-07")
def test_the_trace_context_of_an_active_span_is_passed_on():
    pytest.importorskip("opentelemetry.sdk.trace", reason="opentelemetry-sdk is not installed")
    program = """
        from opentelemetry import trace
        from opentelemetry.sdk.trace import TracerProvider
        from claude_wrapper.options import ClaudeAgentOptions
        from claude_wrapper.spawn.environment import build_environment
        trace.set_tracer_provider(TracerProvider())
        inherited = {"TRACEPARENT": "old", "TRACESTATE": "stale"}
        print(build_environment(ClaudeAgentOptions(), inherited)["TRACEPARENT"])
        with trace.get_tracer("t").start_as_current_span("s") as span:
            env = build_environment(ClaudeAgentOptions(), inherited)
            print(format(span.get_span_context().trace_id, "032x") in env["TRACEPARENT"], "TRACESTATE" in env)
            print(build_environment(ClaudeAgentOptions(env={"TRACEPARENT": "mine"}), inherited)["TRACEPARENT"])
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    assert done.stdout.split() == ["old", "True", "False", "mine"]
