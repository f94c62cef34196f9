"""Answers an agent's questions with one package or the other, and prints the answers.

Arguments: the package, and the agent: a launcher of this same file, which then plays it.
"""

import dataclasses
import importlib
import json
import sys

import anyio

SUGGESTION = {
    "type": "addRules",
    "rules": [{"toolName": "Bash", "ruleContent": "ls:*"}],
    "behavior": "allow",
    "destination": "localSettings",
}
FULL = {
    "tool_use_id": "toolu_1",
    "agent_id": "a1",
    "permission_suggestions": [SUGGESTION, {"type": "setMode", "mode": "plan", "destination": "session"}],
    "blocked_path": "/etc/passwd",
    "decision_reason": "outside",
    "title": "Run a command",
    "display_name": "Bash",
    "description": "Lists files",
}

HOOK_OUTPUTS = {
    "nothing": {},
    "none": None,
    "stop": {"continue_": False, "stopReason": "enough", "suppressOutput": True},
    "background": {"async_": True, "asyncTimeout": 5},
    "deny": {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "no",
        }
    },
    "block": {"decision": "block", "reason": "no", "systemMessage": "é"},
    "wire names": {"continue": True, "async": False},
    "unknown names": {"novel": [1, None]},
}
"""What hooks return, in the order of their numbers."""


def permissions(package):
    rule = package.types.PermissionRuleValue("Bash", "ls:*")
    update = package.PermissionUpdate("addRules", rules=[rule], behavior="allow", destination="session")
    allow, deny = package.PermissionResultAllow, package.PermissionResultDeny
    return {
        "allow": allow(),
        "allow changed": allow(updated_input={"command": "pwd"}),
        "allow emptied": allow(updated_input={}),
        "allow for good": allow(updated_permissions=[update]),
        "allow with nothing more": allow(updated_permissions=[]),
        "allow with half a rule": allow(updated_permissions=[package.PermissionUpdate("addRules")]),
        "deny": deny(),
        "deny with words": deny(message="no \u2028 é"),
        "deny and stop": deny(message="stop", interrupt=True),
        "a dict": {"behavior": "allow"},
        "nothing": None,
        "raise": ValueError("no luck"),
        "raise bare": ValueError(),
        "bad updates": allow(updated_permissions="all"),
    }


def answering(package):
    results = permissions(package)

    async def can_use_tool(name, tool_input, context):
        if name == "Tell":
            told = {"name": name, "input": tool_input, "context": dataclasses.asdict(context)}
            return package.PermissionResultDeny(message=json.dumps(told, sort_keys=True, default=repr))
        result = results[name]
        if isinstance(result, Exception):
            raise result
        return result

    def returning(output):
        async def hook(_hook_input, _tool_use_id, _context):
            return output

        return hook

    async def telling(hook_input, tool_use_id, context):
        return {"systemMessage": json.dumps([hook_input, tool_use_id, context], sort_keys=True)}

    async def failing(*_):
        raise ValueError("hook failed")

    async def wrong(*_):
        return "a text"

    match = package.HookMatcher
    hooks = {
        "PreToolUse": [match(matcher="Bash", hooks=[returning(o) for o in HOOK_OUTPUTS.values()], timeout=7)],
        "Stop": [match(hooks=[telling]), match(matcher=None, hooks=[failing, wrong])],
    }
    return package.ClaudeAgentOptions(cli_path=sys.argv[2], can_use_tool=can_use_tool, hooks=hooks)


async def prompts():
    yield {
        "type": "user",
        "message": {"role": "user", "content": "go"},
        "parent_tool_use_id": None,
        "session_id": "x",
    }


async def serve(package):
    answers = []
    options = answering(package)
    options.stderr = lambda line: answers.append(json.loads(line))
    async for _ in package.query(prompt=prompts(), options=options):
        pass
    json.dump(dict(answers), sys.stdout)


# -- as the agent


def requests():
    for name in (
        *("allow", "allow changed", "allow emptied", "allow for good", "allow with nothing more"),
        *("allow with half a rule", "deny", "deny with words", "deny and stop", "a dict", "nothing", "raise"),
        *("raise bare", "bad updates"),
    ):
        yield (
            f"permission {name}",
            {"subtype": "can_use_tool", "tool_name": name, "input": {"command": "ls"}, **FULL},
        )
    for name, fields in {
        "full": FULL,
        "bare": {},
        "empty": {"permission_suggestions": [], "tool_use_id": "t"},
    }.items():
        yield (
            f"context {name}",
            {"subtype": "can_use_tool", "tool_name": "Tell", "input": {"a": [1]}, **fields},
        )
    for number, name in enumerate(HOOK_OUTPUTS):
        yield (
            f"hook {name}",
            {"subtype": "hook_callback", "callback_id": f"hook_{number}", "input": {}, "tool_use_id": None},
        )
    stop = {"hook_event_name": "Stop", "stop_hook_active": False, "novel": {"a": 1}}
    first = len(HOOK_OUTPUTS)
    for number, name in enumerate(("tells", "fails", "is wrong")):
        yield (
            f"hook {name}",
            {
                "subtype": "hook_callback",
                "callback_id": f"hook_{first + number}",
                "input": stop,
                "tool_use_id": "t1",
            },
        )
    yield "hook unknown", {"subtype": "hook_callback", "callback_id": "hook_99", "input": {}}
    yield (
        "server unknown",
        {
            "subtype": "mcp_message",
            "server_name": "none",
            "message": {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        },
    )
    yield "subtype unknown", {"subtype": "novelty", "a": 1}
    yield "permission without a tool", {"subtype": "can_use_tool"}


def send(frame):
    sys.stdout.write(json.dumps(frame) + "\n")
    sys.stdout.flush()


def tell(what, value):
    sys.stderr.write(json.dumps([what, value]) + "\n")
    sys.stderr.flush()


def play():
    frames = map(json.loads, sys.stdin)
    hello = next(frames)
    tell("initialize", hello["request"])
    send(
        {
            "type": "control_response",
            "response": {"subtype": "success", "request_id": hello["request_id"], "response": {}},
        }
    )
    tell("prompt", next(frames))
    for what, body in requests():
        send({"type": "control_request", "request_id": f"r {what}", "request": body})
        answer = next(frame for frame in frames if frame["type"] == "control_response")
        tell(what, answer["response"])
    usage = {"duration_ms": 1, "duration_api_ms": 1, "num_turns": 1, "total_cost_usd": 0, "usage": {}}
    send(
        {"type": "result", "subtype": "success", "is_error": False, "session_id": "s", "result": "", **usage}
    )


if "--input-format" in sys.argv:
    play()
else:
    module = importlib.import_module(sys.argv[1])
    importlib.import_module(f"{sys.argv[1]}.types")
    anyio.run(serve, module)
