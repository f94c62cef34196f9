#!/usr/bin/env python3
"""Builds the package's files for an index: a wheel with a frozen agent, a pure wheel, a source archive.

usage: scripts/build_wheel.py [--agent FOLDER] [--out FOLDER]      the wheel of this platform
       scripts/build_wheel.py --pure | --sdist [--out FOLDER]
       scripts/build_wheel.py --embed FILE [--tag PLATFORM]
       scripts/build_wheel.py --embed-npm NAME@VERSION --integrity sha512-... [--member FILE] [--tag PLATFORM]

The frozen agent comes from scripts/build_agent.py (default: dist/agent/claude-agent); without it no
platform wheel is made. --embed puts another agent's executable, to which you have the right, into a
wheel for your own use; its version gets the local label `embedded`, which public indexes refuse.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent
ROOT = SCRIPTS.parent
MOST_MEGABYTES = 25

_SOURCES = (
    "claude_wrapper",
    "scripts",
    "bin",
    "docs",
    "pyproject.toml",
    "README.md",
    "CHANGELOG.md",
    "LICENSE",
)


def main() -> int:
    arguments = _parsed()
    sys.path.insert(0, str(SCRIPTS))
    environment = importlib.import_module("packing.environment")
    if os.environ.get(environment.IN_ENVIRONMENT) != "1":
        return int(environment.again(sys.argv))
    out: Path = arguments.out.resolve()
    if arguments.pure or arguments.sdist:
        return _build(ROOT, out, "--wheel" if arguments.pure else "--sdist", {})
    if arguments.embed or arguments.embed_npm:
        return _embedded(arguments, out)
    folder: Path = arguments.agent.resolve()
    manifest = folder / "manifest.json"
    if not manifest.is_file():
        print(f"There is no frozen agent in {folder}. Build it with scripts/build_agent.py.", file=sys.stderr)
        return 1
    tag = arguments.tag or json.loads(manifest.read_text(encoding="utf-8"))["tag"]
    return _build(ROOT, out, "--wheel", _bundle(folder, tag), MOST_MEGABYTES)


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--pure", action="store_true")
    kind.add_argument("--sdist", action="store_true")
    kind.add_argument("--embed", type=Path, metavar="FILE")
    kind.add_argument("--embed-npm", metavar="NAME@VERSION")
    parser.add_argument(
        "--agent", type=Path, default=ROOT / "dist" / "agent" / "claude-agent", metavar="FOLDER"
    )
    parser.add_argument("--integrity", metavar="HASH", default="")
    parser.add_argument("--member", metavar="FILE", help="the executable's path in the npm package")
    parser.add_argument("--tag", metavar="PLATFORM", help="such as manylinux_2_28_x86_64; else found out")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", metavar="FOLDER")
    return parser.parse_args()


def _embedded(arguments: argparse.Namespace, out: Path) -> int:
    from packing import floor, foreign  # noqa: PLC0415  # what they import is in the build environment only

    with tempfile.TemporaryDirectory(prefix="claude-wrapper-embed-") as name:
        folder = Path(name) / "agent"
        try:
            if arguments.embed:
                foreign.from_file(arguments.embed.resolve(), folder)
            else:
                foreign.from_npm(arguments.embed_npm, arguments.integrity, arguments.member, folder)
            tag = arguments.tag or floor.floor_of(folder).tag
        except (foreign.ForeignError, floor.UnportableError) as error:
            print(error, file=sys.stderr)
            return 1
        sources = Path(name) / "sources"
        _copy_labelled(sources)
        return _build(sources, out, "--wheel", _bundle(folder, tag))


def _copy_labelled(target: Path) -> None:
    """Copy what a wheel is made of, with a version that says that it is not the public one."""
    target.mkdir()
    for name in _SOURCES:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(
                source, target / name, ignore=shutil.ignore_patterns("__pycache__", ".*", "_bundled")
            )
        else:
            shutil.copyfile(source, target / name)
    metadata = target / "pyproject.toml"
    text = metadata.read_text(encoding="utf-8")
    metadata.write_text(
        re.sub(r'(?m)^version = "([^"]+)"', r'version = "\1+embedded"', text, count=1), encoding="utf-8"
    )


def _bundle(folder: Path, tag: str) -> dict[str, str]:
    return {"CLAUDE_WRAPPER_BUNDLE": str(folder), "CLAUDE_WRAPPER_BUNDLE_TAG": tag}


def _build(
    sources: Path, out: Path, kind: str, environment: dict[str, str], most: float | None = None
) -> int:
    with tempfile.TemporaryDirectory(prefix="claude-wrapper-wheel-") as made:
        command = [sys.executable, "-m", "build", "--no-isolation", kind, "--outdir", made, str(sources)]
        done = subprocess.run(
            command,
            env={**os.environ, **environment},
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if done.returncode:
            print(done.stdout, file=sys.stderr)
            return 1
        (built,) = Path(made).iterdir()
        size = built.stat().st_size / 1e6
        if most is not None and size > most:
            print(f"{built.name} has {size:.1f} MB; the most is {most} MB", file=sys.stderr)
            return 1
        out.mkdir(parents=True, exist_ok=True)
        place = out / built.name
        shutil.move(built, place)
    print(f"{place}\n  {size:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
