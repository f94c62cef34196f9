"""The environment that an agent is started with."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from claude_wrapper.options import ClaudeAgentOptions

__all__ = ["SDK_VERSION", "build_environment"]

SDK_VERSION = "0.2.189"
"""The version of the official Python SDK whose protocol this library speaks (November 2026)."""

_NEEDED = ("SYSTEMROOT",) if os.name == "nt" else ()
"""Without these no program starts."""

_SESSION_STATE = "CLAUDE_CODE_SDK_READS_SESSION_STATE"


def build_environment(options: ClaudeAgentOptions, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the agent's variables: inherited ones of `environ`, what the options set, and our own."""
    env = _inherited(options.inherit_env, environ)
    # The mark of an agent's own shell: with it an agent would take itself for nested and refuse to run.
    env.pop("CLAUDECODE", None)
    env["CLAUDE_CODE_ENTRYPOINT"] = "sdk-py"
    trace = _trace_context()
    if "TRACEPARENT" in trace:
        env.pop("TRACESTATE", None)
    env |= trace
    env |= {_name(name): value for name, value in options.env.items()}
    env["CLAUDE_AGENT_SDK_VERSION"] = SDK_VERSION
    if not any(name.upper() == _SESSION_STATE for name in env):
        env[_SESSION_STATE] = "1"
    if options.enable_file_checkpointing:
        env["CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"] = "true"
    if options.client_app:
        env["CLAUDE_AGENT_SDK_CLIENT_APP"] = options.client_app
    if options.cwd:
        env["PWD"] = str(Path(options.cwd).absolute())
    return env


def _name(name: str) -> str:
    # There a variable has one name in whatever case, and `os.environ` keeps it in capitals.
    return name.upper() if os.name == "nt" else name


def _inherited(inherit: bool | list[str], environ: Mapping[str, str]) -> dict[str, str]:
    if inherit is True:
        return dict(environ)
    names = [*_NEEDED, *map(_name, inherit or ())]
    return {name: environ[name] for name in names if name in environ}


def _trace_context() -> dict[str, str]:
    """Return the W3C trace context of the caller's active span, as variables."""
    if "opentelemetry" not in sys.modules:
        return {}
    try:
        # No dependency of ours: only where the program has loaded it already.
        propagate, trace = (import_module(f"opentelemetry.{name}") for name in ("propagate", "trace"))
    except ImportError:
        return {}
    if not trace.get_current_span().get_span_context().is_valid:
        return {}
    carrier: dict[str, str] = {}
    propagate.inject(carrier)
    return {name.upper(): value for name, value in carrier.items()}
