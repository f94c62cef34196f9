"""The pairs of SDK and agent that play a scenario, and what each needs to be started."""

import sys
from dataclasses import dataclass

from interop_kit.nursery import DRIVERS, Kind
from interop_kit.peers import Peers
from interop_kit.scenario import Scenario

RAW_MODULES = ("base64", "subprocess", "urllib.request")
PYTHON_MODULES = (
    "asyncio",
    "anyio._backends._asyncio",
    "anyio.streams.stapled",
    "urllib.request",
    "python_describe",
    "python_options",
)
OUR_MODULES = (
    "claude_wrapper.oneshot",
    "claude_wrapper.client",
    "claude_wrapper.conversation.live",
    "claude_wrapper.conversation.run",
    "claude_wrapper.conversation.home",
    "claude_wrapper.spawn.start",
    "claude_wrapper.tool_server",
    "jsonschema",
)


@dataclass(frozen=True)
class Cell:
    """One pair: who drives, and which agent is driven."""

    driver: str
    """`python`, `ts` or `raw`."""
    our_sdk: bool
    our_agent: bool

    @property
    def name(self) -> str:
        drivers = {"python": "wrapper" if self.our_sdk else "sdk-py", "ts": "sdk-ts", "raw": "frames"}
        return f"{drivers[self.driver]}+{'agent' if self.our_agent else 'claude'}"

    @property
    def reference(self) -> "Cell":
        """The pair of official programs that this one has to equal."""
        return Cell(self.driver, our_sdk=False, our_agent=False)

    def agent_command(self, peers: Peers) -> list[str]:
        if self.our_agent:
            return [sys.executable, "-m", "claude_wrapper.agent"]
        return [str(peers.claude)]

    @property
    def driver_module(self) -> str:
        """What the driver in Python has to import."""
        return "claude_wrapper" if self.our_sdk else "claude_agent_sdk"

    def driver_kind(self, peers: Peers) -> Kind:
        """The nursery that has this pair's driver."""
        if self.driver == "ts":
            return Kind((str(peers.node), "--no-warnings", str(DRIVERS / "driver_ts.mjs"), str(peers.ts_sdk)))
        if self.driver == "raw":
            return python_kind(sys.executable, "driver_raw.py", RAW_MODULES)
        if self.our_sdk:
            return python_kind(sys.executable, "driver_python.py", (*OUR_MODULES, *PYTHON_MODULES))
        return python_kind(str(peers.python), "driver_python.py", ("claude_agent_sdk", *PYTHON_MODULES))


def python_kind(interpreter: str, script: str, modules: tuple[str, ...]) -> Kind:
    """A nursery that forks for each run, its modules imported."""
    return Kind((interpreter, str(DRIVERS / "nursery.py"), *modules), DRIVERS / script)


def cells_of(scenario: Scenario) -> list[Cell]:
    """Every pair that plays `scenario`, each reference before those that are held against it."""
    cells: list[Cell] = []
    for driver in scenario.drivers:
        for our_agent in (False, True):
            cells.append(Cell(driver, our_sdk=False, our_agent=our_agent))
            if driver == "python":
                cells.append(Cell(driver, our_sdk=True, our_agent=our_agent))
    return cells
