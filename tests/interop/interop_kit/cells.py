"""The pairs of SDK and agent that play a scenario, and what each needs to be started."""

import sys
from dataclasses import dataclass

from interop_kit.nursery import DRIVERS, Kind
from interop_kit.peers import Peers
from interop_kit.scenario import Scenario

RAW_MODULES = ("base64", "subprocess", "urllib.request")
PYTHON_MODULES = ("asyncio", "urllib.request", "python_describe", "python_options")


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

    def driver_kind(self, peers: Peers) -> Kind | None:
        """The nursery that has this pair's driver; None: it is started by `driver_command`."""
        if self.driver == "ts":
            return None
        if self.driver == "raw":
            return Kind(sys.executable, DRIVERS / "driver_raw.py", RAW_MODULES)
        python, module = (
            (sys.executable, "claude_wrapper.oneshot")
            if self.our_sdk
            else (str(peers.python), "claude_agent_sdk")
        )
        return Kind(python, DRIVERS / "driver_python.py", (module, *PYTHON_MODULES))

    def driver_command(self, peers: Peers) -> list[str]:
        return [str(peers.node), "--no-deprecation", str(DRIVERS / "driver_ts.mjs")]

    def names_for_driver(self, peers: Peers) -> dict[str, str]:
        """What the driver has to import."""
        return {"module": "claude_wrapper" if self.our_sdk else "claude_agent_sdk", "sdk": str(peers.ts_sdk)}


def cells_of(scenario: Scenario) -> list[Cell]:
    """Every pair that plays `scenario`, each reference before those that are held against it."""
    cells: list[Cell] = []
    for driver in scenario.drivers:
        for our_agent in (False, True):
            cells.append(Cell(driver, our_sdk=False, our_agent=our_agent))
            if driver == "python":
                cells.append(Cell(driver, our_sdk=True, our_agent=our_agent))
    return cells
