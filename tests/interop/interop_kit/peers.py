"""Where the official SDKs and their agent are, and how a folder gets them."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from interop_kit.nursery import Nurseries

VARIABLE = "CLAUDE_WRAPPER_PEERS"
PINS = json.loads(Path(__file__).parent.with_name("peers.json").read_text())
INSTALL_PATIENCE = 900


class PeersMissingError(Exception):
    """The peers are not where the environment says, or not in the pinned versions."""


@dataclass(frozen=True)
class Peers:
    """The programs of others that the suite runs."""

    python: Path
    claude: Path
    ts_sdk: Path
    node: Path
    nurseries: Nurseries = field(default_factory=Nurseries, compare=False)
    """Their drivers' processes; to be closed by whoever found the peers."""


def find_peers() -> Peers | None:
    """The peers in the folder that the environment names; None when it names none."""
    folder = os.environ.get(VARIABLE)
    return peers_in(Path(folder)) if folder else None


def peers_in(folder: Path) -> Peers:
    """The peers in `folder`, checked against the pins."""
    python = folder / "pyenv" / "bin" / "python"
    modules = folder / "ts" / "node_modules"
    node = shutil.which("node")
    missing = [str(path) for path in (python, modules) if not path.exists()]
    if missing:
        raise PeersMissingError(
            f"{' and '.join(missing)}: not there; tests/interop/run.py --install {folder} puts the official SDKs there"
        )
    if node is None:
        raise PeersMissingError("no node on PATH, which the TypeScript SDK needs")
    check_versions(python, modules)
    return Peers(
        python=python,
        claude=bundled_agent(python),
        ts_sdk=modules / "@anthropic-ai" / "claude-agent-sdk" / "sdk.mjs",
        node=Path(node),
    )


def bundled_agent(python: Path) -> Path:
    """The executable inside the Python SDK, found without importing it."""
    found = sorted(python.parents[1].glob("lib/python3*/site-packages/claude_agent_sdk/_bundled/claude"))
    if not found:
        raise PeersMissingError(f"the Python SDK beside {python} carries no executable")
    return found[0]


def check_versions(python: Path, modules: Path) -> None:
    """Refuse other versions than the pinned ones: a comparison with them would say nothing."""
    site = next(python.parents[1].glob("lib/python3*/site-packages"))
    for name, version in PINS["python"].items():
        if not (site / f"{name.replace('-', '_')}-{version}.dist-info").is_dir():
            raise PeersMissingError(f"{site} does not hold {name} {version}")
    for name, version in PINS["npm"].items():
        package = json.loads((modules / name / "package.json").read_text())
        if package["version"] != version:
            raise PeersMissingError(f"{modules} holds {name} {package['version']}, not {version}")


def install(folder: Path) -> Peers:
    """Put the pinned peers into `folder`, or leave it as it is when they are there."""
    try:
        return peers_in(folder)
    except PeersMissingError:
        pass
    folder.mkdir(parents=True, exist_ok=True)
    npm = shutil.which("npm")
    if npm is None:
        raise PeersMissingError("npm is needed to install the TypeScript SDK")
    run([sys.executable, "-m", "venv", str(folder / "pyenv")])
    python = folder / "pyenv" / "bin" / "python"
    run([str(python), "-m", "pip", "install", "--quiet", *(f"{n}=={v}" for n, v in PINS["python"].items())])
    (folder / "ts").mkdir(exist_ok=True)
    wanted = [f"{name}@{version}" for name, version in PINS["npm"].items()]
    run([npm, "install", "--no-audit", "--no-fund", "--save-exact", "--prefix", str(folder / "ts"), *wanted])
    return peers_in(folder)


def run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_PATIENCE, check=False)
    if done.returncode:
        raise PeersMissingError(f"{' '.join(command)} failed: {done.stderr[-2000:]}")
