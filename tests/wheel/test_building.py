"""The scripts that build: what they refuse, and wheels that carry another agent's executable."""

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILDING = 300


@pytest.fixture
def build_wheel(wheel, tmp_path):  # noqa: ARG001  # the environment that builds run in has been made by then
    """Runs the script; returns the outcome and the wheels that it made."""

    def build(*words):
        out = tmp_path / "out"
        env = {
            name: value
            for name, value in os.environ.items()
            if name not in {"VIRTUAL_ENV", "CLAUDE_WRAPPER_VENV"}
        }
        command = [Path(sys.executable).resolve(), ROOT / "scripts" / "build_wheel.py", *words, "--out", out]
        done = subprocess.run(
            [str(word) for word in command],
            env=env,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=BUILDING,
        )
        return done, sorted(out.glob("*")) if out.is_dir() else []

    return build


@pytest.fixture
def package(tmp_path):
    """A package of the npm kind that holds a program, and its hash as lock files write it."""
    folder = tmp_path / "package"
    (folder / "bin").mkdir(parents=True)
    (folder / "package.json").write_text(json.dumps({"name": "some-agent", "version": "1.2.3"}))
    shutil.copyfile("/bin/true", folder / "bin" / "agent")
    (folder / "bin" / "agent").chmod(0o755)
    packed = subprocess.run(
        ["npm", "pack", "--silent", str(folder)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    archive = tmp_path / packed.stdout.split()[-1]
    digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    return str(folder), f"sha512-{digest}"


def test_without_a_frozen_agent_no_platform_wheel_is_made(build_wheel, tmp_path):
    done, made = build_wheel("--agent", tmp_path / "nowhere")
    assert done.returncode == 1
    assert "There is no frozen agent in" in done.stderr
    assert "scripts/build_agent.py" in done.stderr
    assert made == []


def test_an_agent_that_lost_its_run_bit_is_refused(build_wheel, tmp_path):
    folder = tmp_path / "agent"
    folder.mkdir()
    (folder / "claude-agent").write_text("")
    (folder / "manifest.json").write_text('{"tag": "manylinux_2_28_x86_64"}')
    done, made = build_wheel("--agent", folder)
    assert done.returncode == 1
    assert "may not be run" in done.stderr
    assert made == []


def test_another_executable_can_be_embedded_and_the_wheel_is_marked(build_wheel):
    done, (made,) = build_wheel("--embed", "/bin/true")
    assert done.returncode == 0, done.stderr
    assert "+embedded-py3-none-manylinux_2_" in made.name
    with zipfile.ZipFile(made) as archive:
        assert archive.read("claude_wrapper/_bundled/claude-agent") == Path("/bin/true").read_bytes()
        assert archive.getinfo("claude_wrapper/_bundled/claude-agent").external_attr >> 16 & 0o100


def test_an_executable_of_the_npm_registry_is_taken_by_version_and_hash(build_wheel, package):
    folder, integrity = package
    done, (made,) = build_wheel("--embed-npm", folder, "--integrity", integrity)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(made) as archive:
        assert archive.read("claude_wrapper/_bundled/claude-agent") == Path("/bin/true").read_bytes()


def test_a_package_with_another_hash_or_without_a_version_is_refused(build_wheel, package):
    folder, integrity = package
    done, made = build_wheel("--embed-npm", folder, "--integrity", "sha512-" + "A" * 86 + "==")
    assert (done.returncode, made) == (1, [])
    assert f"is {integrity}, not the one that was given" in done.stderr
    done, made = build_wheel("--embed-npm", "some-agent", "--integrity", integrity)
    assert (done.returncode, made) == (1, [])
    assert "write NAME@VERSION" in done.stderr
    done, made = build_wheel("--embed-npm", folder)
    assert (done.returncode, made) == (1, [])
    assert "sha512-BASE64" in done.stderr


def test_the_source_archive_makes_a_wheel_that_runs_by_python_alone(
    build_wheel, new_environment, bare, tmp_path
):
    """Built from the sources in the archive, for every platform; the agent is Python code with dependencies of its own."""
    done, (archive,) = build_wheel("--sdist")
    assert done.returncode == 0, done.stderr
    folder = new_environment(tmp_path / "environment", f"{archive}[agent]")
    env = {**bare, "PATH": "/usr/bin:/bin"}
    demo = subprocess.run(
        [folder / "bin" / "claude-wrapper", "demo", "--json"],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=90,
    )
    assert demo.returncode == 0, demo.stderr
    assert json.loads(demo.stdout)["fixed"] is True
    (metadata,) = folder.glob("lib/python3*/site-packages/claude_wrapper-*.dist-info/WHEEL")
    assert "Tag: py3-none-any" in metadata.read_text()
