"""What goes into a frozen agent: a rule for its modules, what stays out and why, its data and programs."""

from __future__ import annotations

import ast
import os
import shutil
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAME = "claude-agent"
EXECUTABLE = f"{NAME}.exe" if os.name == "nt" else NAME

AGENT = "claude_wrapper.agent"

LEFT_OUT = {
    "trio": "the agent runs on asyncio only",
    "tkinter": "it has no windows",
    "unittest": "tests stay at home",
    "test": "likewise",
    "jsonschema.benchmarks": "likewise",
    "jsonschema.tests": "likewise",
    "doctest": "likewise",
    "pdb": "nobody debugs in it",
    "pydoc": "likewise",
    "pydoc_data": "likewise",
    "lib2to3": "it runs Python, it does not rewrite it",
    "ensurepip": "nothing is installed into it",
    "pip": "likewise",
    "setuptools": "likewise",
    "pkg_resources": "likewise",
    "distutils": "likewise",
    "venv": "likewise",
    "sqlite3": "it has no database",
    "curses": "it has no screen",
    "multiprocessing": "its helpers are other programs; what needs it is never reached",
    "_uuid": "it makes random identifiers only, which need no library of the system",
    "xmlrpc": "it speaks HTTP through httpx2 only",
}
"""Modules that something imports, perhaps, and that the agent runs without."""

SHARED = {"errors", "link", "store", "watchman", "wire"}
"""Rooms of the package that both programs use."""

_UNWANTED_DATA = (".pyi", ".py", ".typed", ".h", ".c", "issue.json")


def hidden_modules() -> list[str]:
    """Every module of the agent, since tools are imported by name and much else on first use.

    What these import, at their top or in functions, is found by following their imports; packages that
    they import by name are added where this interpreter has them, and what anyio imports by name.
    """
    modules = [AGENT]
    named: list[str] = []
    for path in sorted((ROOT / "claude_wrapper" / "agent").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        modules.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
        named += imported_by_name(path.read_text(encoding="utf-8"))
    found = [name for name in named if find_spec(name.partition(".")[0]) is not None]
    return list(dict.fromkeys([*modules, *found, "anyio._backends._asyncio"]))


def imported_by_name(source: str) -> Iterator[str]:
    """The names that a module gives to `import_module`, where they stand in its text."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called == "import_module":
                yield str(node.args[0].value)


def left_out() -> list[str]:
    """Modules that stay out: the above, and the library's own half."""
    package = ROOT / "claude_wrapper"
    rooms = {
        path.stem for path in package.iterdir() if path.suffix in {"", ".py"} and path.stem.isidentifier()
    }
    library = rooms - SHARED - {"agent", "__init__"}
    return [*LEFT_OUT, *(f"claude_wrapper.{room}" for room in sorted(library))]


def data_files() -> list[tuple[str, str]]:
    """Files beside the agent's modules that are no Python, each with the folder that it goes into."""
    package = ROOT / "claude_wrapper" / "agent"
    return [
        (str(path), str(path.parent.relative_to(ROOT)))
        for path in sorted(package.rglob("*"))
        if path.is_file()
        and path.suffix not in {".py", ".pyc"}
        and not any(part.startswith(".") for part in path.relative_to(package).parts)
    ]


def programs() -> list[tuple[str, str]]:
    """ripgrep, as its package has installed it beside this interpreter."""
    found = shutil.which("rg", path=str(Path(sys.executable).parent))
    if found is None:
        sys.exit(f"ripgrep is not installed beside {sys.executable}; install the extra `agent` there.")
    return [(found, ".")]


def wanted(name: str) -> bool:
    """Whether a data file that came along with a package is needed at run time."""
    if ".dist-info" in name:
        # Packages ask for their own version.
        return name.endswith("METADATA")
    return not name.endswith(_UNWANTED_DATA)
