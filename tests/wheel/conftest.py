"""The wheel of this platform, built once for each state of the sources, and installed into an empty environment."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from claude_wrapper.testing import ModelProcess

ROOT = Path(__file__).resolve().parents[2]
GIVEN = "CLAUDE_WRAPPER_WHEEL"
"""Names a wheel to test in place of building one."""
BUILDING = 540
INSTALLING = 300
RUNNING = 90
INPUTS = (
    "claude_wrapper",
    "scripts/packing",
    "scripts/build_agent.py",
    "scripts/build_wheel.py",
    "bin",
    "pyproject.toml",
)

pytestmark = pytest.mark.wheel


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in Path(item.fspath).parents:
            item.add_marker(pytest.mark.wheel)
            # The first test waits for the build.
            item.add_marker(pytest.mark.timeout(BUILDING + INSTALLING + RUNNING))


@contextmanager
def one_at_a_time(lock):
    """Other workers and other runs build and install the same things."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def run(command, **how):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **how)
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done


def state_of_sources():
    digest = hashlib.sha256(sys.version.encode())
    for name in INPUTS:
        path = ROOT / name
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            if (
                file.is_file()
                and file.suffix in {"", ".py", ".json", ".spec", ".toml", ".typed"}
                and "/." not in str(file.relative_to(ROOT))
            ):
                digest.update(f"{file.relative_to(ROOT)}\0".encode() + file.read_bytes())
    return digest.hexdigest()[:24]


def cache():
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "claude-wrapper"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def plain_environment():
    """What a build gets of this process: nothing that leads to the checkout's environment."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in {"PYTHONPATH", "VIRTUAL_ENV", "CLAUDE_WRAPPER_VENV"}
    }


@pytest.fixture(scope="session")
def wheel():
    """The wheel, and a frozen agent as the build left it."""
    if given := os.environ.get(GIVEN):
        return Path(given).resolve()
    with one_at_a_time(cache() / "wheels.lock"):
        place = cache() / "wheels" / state_of_sources()
        found = list(place.glob("*.whl"))
        if not found:
            shutil.rmtree(cache() / "wheels", ignore_errors=True)
            python = Path(sys.executable).resolve()
            agent = place / "agent"
            how = {"env": plain_environment(), "cwd": ROOT, "timeout": BUILDING}
            run([python, ROOT / "scripts" / "build_agent.py", "--out", agent], **how)
            run(
                [
                    python,
                    ROOT / "scripts" / "build_wheel.py",
                    "--agent",
                    agent / "claude-agent",
                    "--out",
                    place,
                ],
                **how,
            )
            shutil.rmtree(agent)
            found = list(place.glob("*.whl"))
        return found[0]


@pytest.fixture(scope="session")
def new_environment():
    """Makes an empty virtual environment and installs something into it."""

    def make(folder, *wanted):
        run([sys.executable, "-m", "venv", "--without-pip", folder], timeout=INSTALLING)
        python = folder / "bin" / "python"
        command = [
            sys.executable,
            "-m",
            "pip",
            "--python",
            python,
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ]
        run([*command, *wanted], cwd=folder, env=plain_environment(), timeout=INSTALLING)
        return folder

    return make


@pytest.fixture(scope="session")
def everybodys_folder():
    """A folder that every user may look into, with a name that is not easy; gone in the end."""
    with tempfile.TemporaryDirectory(prefix="claude-wrapper wheel é中-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.fixture(scope="session")
def installed(wheel, new_environment, everybodys_folder):
    """An environment with the wheel and what it depends on, under a path with spaces and letters beyond ASCII."""
    folder = new_environment(everybodys_folder / "empty environment", wheel)
    (package,) = folder.glob("lib/python3*/site-packages/claude_wrapper")
    return SimpleNamespace(
        folder=folder,
        python=folder / "bin" / "python",
        command=folder / "bin" / "claude-wrapper",
        package=package,
        agent=package / "_bundled" / "claude-agent",
    )


@pytest.fixture
def bare(tmp_path):
    """Variables of a machine with nothing on it, and a home of its own."""
    home = tmp_path / "home"
    home.mkdir()
    return {"PATH": "/nonexistent", "HOME": str(home), "LANG": "C.UTF-8"}


@pytest.fixture
def model():
    """Starts models that answer from a script."""
    running = []

    def start(*turns):
        running.append(ModelProcess(list(turns)).__enter__())
        return running[-1]

    yield start
    for each in running:
        each.__exit__(None, None, None)


@pytest.fixture
def ask(installed, model, bare):
    """Runs the agent executable by itself on one prompt; returns the outcome and the model."""

    def run_agent(*turns, agent=None, before=(), flags=(), env=None, cwd="/"):
        scripted = model(*turns)
        command = [*before, str(agent or installed.agent), "-p", "go", "--output-format", "json", *flags]
        environment = {**bare, **scripted.environment(), **(env or {})}
        environment = {name: value for name, value in environment.items() if value is not None}
        done = subprocess.run(
            command,
            env=environment,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=RUNNING,
        )
        return done, scripted

    return run_agent
