"""Builds the options of a run: callbacks that answer from a list and note what they were asked."""

import asyncio
import importlib
import json
from pathlib import Path
from typing import Any

from python_describe import Notebook, described


class Answers:
    """A list of answers, the last of which is used again once the list is used up."""

    def __init__(self, answers: list[Any]) -> None:
        self._answers = answers
        self._used = 0

    def next(self) -> Any:
        answer = self._answers[min(self._used, len(self._answers) - 1)]
        self._used += 1
        return answer


def build_options(sdk: Any, spec: dict[str, Any], notes: Notebook) -> Any:
    """ClaudeAgentOptions of the SDK under test from the run's JSON."""
    options = dict(spec.get("options") or {})
    options.setdefault("cwd", spec["project"])
    options["cli_path"] = spec["agent"]
    if "agents" in options:
        options["agents"] = {name: sdk.AgentDefinition(**row) for name, row in options["agents"].items()}
    if "can_use_tool" in spec:
        options["can_use_tool"] = permission_callback(sdk, Answers(spec["can_use_tool"]), notes)
    if "hooks" in spec:
        options["hooks"] = {
            event: [hook_matcher(sdk, event, row, notes) for row in rows]
            for event, rows in spec["hooks"].items()
        }
    if "mcp" in spec:
        servers = dict(options.get("mcp_servers") or {})
        servers |= {name: mcp_server(sdk, name, tools, notes) for name, tools in spec["mcp"].items()}
        options["mcp_servers"] = servers
    if spec.get("store"):
        options["session_store"] = file_store(sdk, Path(spec["state"]))
    if spec.get("stderr"):
        options["stderr"] = lambda line: notes.put("stderr", line)
    return sdk.ClaudeAgentOptions(**options)


def permission_callback(sdk: Any, answers: Answers, notes: Notebook) -> Any:
    async def decide(tool: str, tool_input: dict[str, Any], context: Any) -> Any:
        answer = answers.next()
        notes.put("permission", {"tool": tool, "input": tool_input, "context": described(context)})
        if "delay" in answer:
            await asyncio.sleep(answer["delay"])
        if "raise" in answer:
            raise RuntimeError(answer["raise"])
        if "deny" in answer:
            return sdk.PermissionResultDeny(message=answer["deny"], interrupt=answer.get("interrupt", False))
        updates = answer.get("updated_permissions")
        if updates == "suggested":
            updates = context.suggestions
        elif updates:
            updates = [permission_update(sdk, update) for update in updates]
        return sdk.PermissionResultAllow(
            updated_input=answer.get("updated_input"), updated_permissions=updates
        )

    return decide


def permission_update(sdk: Any, row: dict[str, Any]) -> Any:
    """An update as a caller builds it; `rules` are pairs of a tool and a content, which may be None."""
    if "rules" in row:
        rule = importlib.import_module(f"{sdk.__name__}.types").PermissionRuleValue
        row = {**row, "rules": [rule(*pair) for pair in row["rules"]]}
    return sdk.PermissionUpdate(**row)


def hook_matcher(sdk: Any, event: str, row: dict[str, Any], notes: Notebook) -> Any:
    answers = Answers(row["returns"])

    async def hook(hook_input: Any, tool_use_id: str | None, _context: Any) -> Any:
        answer = dict(answers.next())
        notes.put("hook", {"event": event, "input": described(hook_input), "tool_use_id": tool_use_id})
        await asyncio.sleep(answer.pop("$sleep", 0))
        if "$raise" in answer:
            raise RuntimeError(answer["$raise"])
        return answer

    return sdk.HookMatcher(
        matcher=row.get("matcher"), hooks=[hook], timeout=row.get("timeout"), on_failure=row.get("on_failure")
    )


def mcp_server(sdk: Any, name: str, tools: dict[str, Any], notes: Notebook) -> Any:
    inside = Inside()

    def built(tool_name: str, row: dict[str, Any]) -> Any:
        async def call(arguments: dict[str, Any]) -> Any:
            notes.put("tool", {"server": name, "tool": tool_name, "arguments": arguments})
            if "raise" in row:
                raise RuntimeError(row["raise"])
            if "meets" in row:
                notes.put("tool", {"tool": tool_name, "met": await inside.meets(row["meets"])})
            return row["returns"]

        annotations = sdk.ToolAnnotations(**row["annotations"]) if "annotations" in row else None
        return sdk.tool(tool_name, row.get("description", tool_name), row["schema"], annotations)(call)

    return sdk.create_sdk_mcp_server(
        name, "1.0.0", [built(tool_name, row) for tool_name, row in tools.items()]
    )


class Inside:
    """How many calls of a server's tools are under way."""

    def __init__(self) -> None:
        self._count = 0
        self._most = asyncio.Event()

    async def meets(self, seconds: float) -> bool:
        """Whether another call came while this one was waiting for it."""
        self._count += 1
        if self._count > 1:
            self._most.set()
        try:
            await asyncio.wait_for(self._most.wait(), seconds)
        except asyncio.TimeoutError:
            return False
        finally:
            self._count -= 1
        return True


def file_store(sdk: Any, path: Path) -> Any:
    """A session store in one JSON file, so that a later run finds what an earlier one stored."""

    def key_text(key: Any) -> str:
        return "|".join([key["project_key"], key["session_id"], key.get("subpath") or ""])

    def loaded() -> dict[str, list[Any]]:
        return json.loads(path.read_text()) if path.exists() else {}

    def store(rows: dict[str, list[Any]]) -> None:
        path.write_text(json.dumps(rows))

    class FileStore(sdk.SessionStore):  # type: ignore[misc]  # the base is the module's under test
        async def append(self, key: Any, entries: list[Any]) -> None:
            rows = loaded()
            rows.setdefault(key_text(key), []).extend(entries)
            store(rows)

        async def load(self, key: Any) -> list[Any] | None:
            return loaded().get(key_text(key))

        async def list_subkeys(self, key: Any) -> list[str]:
            prefix = key_text({**key, "subpath": ""})
            return [text[len(prefix) :] for text in loaded() if text.startswith(prefix) and text != prefix]

    return FileStore()
