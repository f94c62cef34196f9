"""Refuses a scenario that says what nobody would play, and names its file and the place in it."""

import difflib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from claude_wrapper.testing import ScriptError
from claude_wrapper.testing.script_file import script_from_json


class ScenarioError(Exception):
    """A scenario that is not there, or that says what nobody understands."""


SCENARIO = {
    "note": str,
    "shows": list,
    "drivers": list,
    "far": bool,
    "files": dict,
    "home_files": dict,
    "files_b64": dict,
    "env": dict,
    "web": dict,
    "runs": list,
    "differs": dict,
    "may_differ": dict,
    "open": str,
    "cut_off": str,
}
DRIVERS = ("python", "ts", "raw")
OF_EVERY_RUN = {
    "via": str,
    "env": dict,
    "reset": bool,
    "established": bool,
    "agent_script": str,
    "limit": (int, float),
}
OF_SDK_RUNS = {
    **OF_EVERY_RUN,
    "options": dict,
    "can_use_tool": list,
    "hooks": dict,
    "mcp": dict,
    "store": bool,
    "stderr": bool,
    "prompt": (str, list),
}
RUNS = {
    "query": OF_SDK_RUNS,
    "client": {**OF_SDK_RUNS, "steps": list},
    "functions": {**OF_SDK_RUNS, "functions": list},
    "raw": {
        **OF_EVERY_RUN,
        "arguments": list,
        "bare": bool,
        "answers": list,
        "steps": list,
        "reads_after": (int, float),
    },
}
"""Members of a run, by its `via`."""
NEEDED = {"query": "prompt", "client": "steps", "functions": "functions", "raw": "steps"}
OF_BOTH_STEPS = {"until_file", "until_gate", "release"}
STEPS = {
    "client": OF_BOTH_STEPS | {"query", "until", "until_end", "call", "kill", "make"},
    "raw": OF_BOTH_STEPS
    | {"hello", "ask", "control", "send", "wait", "write", "write_b64", "close", "signal", "make", "pause"}
    | {"name_task"},
}
BESIDE = {"until": {"timeout"}, "wait": {"timeout"}, "call": {"args"}, "ask": {"with"}} | {
    "write": {"times", "may_break"}
}
"""What a step may say beside its name."""


def known(name: str, names: list[str]) -> str:
    """`name`, if a scenario is called so; else those that are called alike are told."""
    if name in names:
        return name
    near = difflib.get_close_matches(name, names, 4, 0.5) or [each for each in names if name in each][:4]
    meant = f"; near names: {', '.join(near)}" if near else f"; there are {len(names)}, see --list"
    raise ScenarioError(f"no scenario is called {name}{meant}")


def read_json(path: Path) -> Any:
    """The JSON in a file of a scenario."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ScenarioError(f"{path.name} is missing beside its other file") from None
    except ValueError as error:
        raise ScenarioError(f"{path.name} is no JSON: {error}") from None


def check(name: str, driver: Any, model: Any) -> None:
    """Refuse what no driver would play, and what no model would say, as it stands in the files."""
    try:
        script_from_json(model)
    except ScriptError as error:
        raise ScenarioError(f"{name}.json: {error}") from error
    wrong = list(faults(driver))
    if wrong:
        raise ScenarioError("\n".join(f"{name}.driver.json: {line}" for line in wrong))


def faults(driver: Any) -> Iterator[str]:
    if not isinstance(driver, dict):
        yield "should be an object"
        return
    yield from members("", driver, SCENARIO)
    if not driver.get("runs"):
        yield "runs: missing or empty; nothing would be played"
    drivers = driver.get("drivers", ["python"])
    for each in drivers if isinstance(drivers, list) else ():
        if each not in DRIVERS:
            yield f"drivers: {each!r} is none of {', '.join(DRIVERS)}"
    runs = driver.get("runs")
    for index, run in enumerate(runs if isinstance(runs, list) else ()):
        yield from faults_of_run(f"runs[{index}]", run, drivers)


def faults_of_run(where: str, run: Any, drivers: Any) -> Iterator[str]:
    if not isinstance(run, dict) or run.get("via") not in RUNS:
        yield f"{where}.via: should be one of {', '.join(RUNS)}"
        return
    via = run["via"]
    yield from members(f"{where}.", run, RUNS[via])
    if NEEDED[via] not in run:
        yield f"{where}.{NEEDED[via]}: missing; a run via {via} needs it"
    if ("raw" in drivers) is not (via == "raw"):
        yield f"{where}.via: {via} cannot be played by {', '.join(drivers)}"
    steps = run.get("steps", ())
    for index, step in enumerate(steps if isinstance(steps, list) else ()):
        yield from faults_of_step(f"{where}.steps[{index}]", step, STEPS.get(via, set()))


def faults_of_step(where: str, step: Any, names: set[str]) -> Iterator[str]:
    own = names & step.keys() if isinstance(step, dict) else set()
    if len(own) != 1:
        yield f"{where}: should have one of {', '.join(sorted(names))}; is {json.dumps(step)[:80]}"
        return
    name = own.pop()
    for key in step.keys() - {name} - BESIDE.get(name, set()):
        yield f"{where}.{key}: nobody reads this beside {name}"


def members(where: str, value: dict[str, Any], types: dict[str, Any]) -> Iterator[str]:
    """Members that nobody reads, and those of a wrong type."""
    for key, item in value.items():
        if key not in types:
            yield f"{where}{key}: nobody reads this{meant(key, types)}"
        elif not isinstance(item, types[key]):
            wanted = types[key] if isinstance(types[key], tuple) else (types[key],)
            yield f"{where}{key}: should be {' or '.join(kind.__name__ for kind in wanted)}, is {json.dumps(item)[:60]}"


def meant(key: str, keys: Iterable[str]) -> str:
    near = difflib.get_close_matches(key, list(keys), 1)
    return f"; {near[0]} is meant?" if near else ""
