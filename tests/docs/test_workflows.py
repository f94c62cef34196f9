"""The workflow files: what they run is pinned, and only the last step of all may publish."""

import re
from pathlib import Path

import pytest
import yaml

FOLDER = Path(__file__).resolve().parents[2] / ".github" / "workflows"
FILES = sorted(FOLDER.glob("*.yml"))
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")


def jobs(path):
    return yaml.safe_load(path.read_text())["jobs"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_action_is_pinned_to_a_commit_and_its_version_is_told(path):
    used = [step["uses"] for job in jobs(path).values() for step in job["steps"] if "uses" in step]
    assert used
    assert not [each for each in used if not PINNED.fullmatch(each)]
    for line in path.read_text().splitlines():
        assert "uses:" not in line or re.search(r"# v\d+\.\d+\.\d+$", line), line


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_jobs_may_read_and_no_more_and_all_end(path):
    whole = yaml.safe_load(path.read_text())
    assert whole["permissions"] == {"contents": "read"}
    for name, job in whole["jobs"].items():
        assert job["timeout-minutes"] <= 90
        assert job.get("permissions") == ({"id-token": "write"} if name == "publish" else None)


def test_publishing_waits_for_every_other_job_and_holds_no_password():
    wheels = jobs(FOLDER / "wheels.yml")
    publish = wheels["publish"]
    assert set(publish["needs"]) == set(wheels) - {"publish"}
    assert "refs/tags/v" in publish["if"]
    assert "secrets." not in (FOLDER / "wheels.yml").read_text()


def test_every_platform_is_built_and_tested_where_there_are_no_sources():
    wheels = jobs(FOLDER / "wheels.yml")
    built = {
        row["name"] for job in ("linux", "others") for row in wheels[job]["strategy"]["matrix"]["include"]
    }
    tested = {row["wheel"] for row in wheels["test-linux"]["strategy"]["matrix"]["include"]}
    tested |= {row["name"] for row in wheels["test-others"]["strategy"]["matrix"]["include"]}
    assert built == tested
    assert {
        "glibc-x86_64",
        "glibc-aarch64",
        "musl-x86_64",
        "musl-aarch64",
        "macos-arm64",
        "macos-x86_64",
    } < built
    for job in ("test-linux", "test-others"):
        assert not [step for step in wheels[job]["steps"] if "checkout" in step.get("uses", "")]
