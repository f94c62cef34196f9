"""A scenario as it lies on disk: what the model says, what the caller does, and in which folder.

`NAME.json` is the script of the model server. `NAME.driver.json` holds `note`, `shows` (rows of the feature map),
`drivers` (who plays it: `python`, `ts`, `raw`), `far` (an MCP server listens at `${FAR_URL}/mcp`), `files` and `home_files` (path: text), `files_b64`, `env`, and `runs`,
played one after another in the same folders. In both files `/project` and `/home/user` stand for the folders of the
cell. `web` (path: `status`, `body`, `type`, `drop`) is a web server beside the model, whose address is written
`http://web.invalid`; what it is asked is compared.

`differs` maps a pattern of lines of the comparison (`CELL: LINE`, with `*`) to the reason why we differ there on
purpose; each must explain a line in every play. `may_differ` is the same for lines that chance makes appear or not;
its reason says what the chance is. `open` names, in users' words, the feature that our agent does not have yet and without which the scenario
cannot be equal. `cut_off` says why it is a matter of chance what transcripts hold in the end; they are not compared.

A run has `via`, `options` (names of the Python SDK), and, as it needs them, `can_use_tool` and `hooks` (lists of
answers, the last of which serves for all later questions), `mcp` (tools of the program), `store` (a session store
that lasts from run to run), `env`, `reset` (the project as at the start), `established` (the official executable in
every cell, for sessions that go from one agent to the other), `agent_script` (a file of the project that is the agent
in every cell: a small program that says what no agent can be made to say). By `via`:

- `query`: `prompt`, a text or a list of frames and of `{"$after": CLASS}`, which waits for a message of that class
- `client`: `steps`: `query`, `until` (a class, or members that a message has), `call` with `args`, `kill`,
  `until_end`, `make` (an empty file), and the steps that all know: `until_file`, `until_gate` (a reply of the model stands at a gate),
  `release` (a gate)
- callbacks: `can_use_tool` answers `allow` or `deny`, with `delay`, `updated_input`, `updated_permissions` (those
  `suggested`, or updates whose `rules` are pairs); tools in `mcp` have `schema`, `returns` or `raise`, `annotations`,
  and `meets` (seconds to wait for another call of the server; whether it came is noted)
- `functions`: pairs of a function of the module and its arguments
- `raw`: `arguments` after the usual ones (`bare`: instead of them), `answers` to requests of the agent, `reads_after` (seconds that nobody reads stdout), `steps`:
  `hello` (initialize), `ask` (a prompt, `with` further members), `control`, `send`, `wait` (for a frame like this),
  `write` (a text as it is, `times` over; `may_break`: the agent may read no further), `write_b64`, `close`, `signal`, `make` (an empty file), `pause`,
  `name_task` (a word of the script becomes the id of the newest task, which `@task_id` in a `control` stands for). Lines of
  stdout that are no frames and the first line of stderr are compared, too
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interop_kit.checked import check, known, read_json

FOLDER = Path(__file__).parent.with_name("scenarios")
PROJECT = "/project"
HOME = "/home/user"
WEB = "http://web.invalid"


@dataclass(frozen=True)
class Scenario:
    """One scenario, still with the stand-in folder names."""

    name: str
    model: Any
    runs: list[dict[str, Any]]
    note: str = ""
    files: dict[str, str] = field(default_factory=dict)
    home_files: dict[str, str] = field(default_factory=dict)
    files_b64: dict[str, str] = field(default_factory=dict)
    env: dict[str, str | None] = field(default_factory=dict)
    web: dict[str, Any] = field(default_factory=dict)
    """What a web server beside the model answers, by path."""
    shows: list[str] = field(default_factory=list)
    """Rows of the feature map."""
    differs: dict[str, str] = field(default_factory=dict)
    """Differences on purpose: pattern of lines to the reason."""
    may_differ: dict[str, str] = field(default_factory=dict)
    """Differences that chance shows or hides: pattern of lines to the reason, and to what the chance is."""
    open: str = ""
    """The feature that is missing, if any."""
    cut_off: str = ""
    """Why nobody can say how far the transcripts came."""
    far: bool = False
    """An MCP server behind a URL is there."""
    drivers: tuple[str, ...] = ("python",)
    """Which kinds of driver play it: `python`, `ts`, `raw`."""


def names() -> list[str]:
    """All scenarios, sorted."""
    return sorted(path.name.removesuffix(".driver.json") for path in FOLDER.glob("*.driver.json"))


def load(name: str) -> Scenario:
    """Read the two files of a scenario; ScenarioError tells what is wrong with them."""
    known(name, names())
    driver, model = read_json(FOLDER / f"{name}.driver.json"), read_json(FOLDER / f"{name}.json")
    check(name, driver, model)
    driver["drivers"] = tuple(driver.get("drivers", ("python",)))
    return Scenario(name=name, model=model, **driver)


def placed(value: Any, project: Path, home: Path, web: str = WEB) -> Any:
    """`value` with the real folders, and the address of the web server, in place of the stand-ins."""
    table = {PROJECT: str(project), HOME: str(home), WEB: web}
    pattern = re.compile(rf"({'|'.join(map(re.escape, table))})(?![\w-])")
    return mapped(value, lambda text: pattern.sub(lambda found: table[found[1]], text))


def mapped(value: Any, change: Callable[[str], str]) -> Any:
    """`value` with `change` done to every string in it, keys included."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [mapped(item, change) for item in value]
    if isinstance(value, dict):
        return {change(key): mapped(item, change) for key, item in value.items()}
    return value


def strings_in(value: Any) -> set[str]:
    """All strings in a JSON value, keys left out."""
    if isinstance(value, str):
        return {value}
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {text for item in items for text in strings_in(item)}
