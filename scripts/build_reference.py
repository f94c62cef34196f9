#!/usr/bin/env python3
"""Writes docs/reference.md from the docstrings and signatures of the public names.

usage: scripts/build_reference.py [--check]

  --check   write nothing; fail when the file is not up to date

Nothing is imported but the table of names: the sources are read, so that the text is the same with every
Python version.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "reference.md"
PACKAGE = "claude_wrapper"

HEAD = """\
# Reference

The public names of `claude_wrapper`, then those of `claude_wrapper.sync` and `claude_wrapper.testing`.
Written by `scripts/build_reference.py` from the docstrings; change those, not this.
"""

TOPICS = [
    ("Running an agent", ["oneshot", "client", "warm", "pool"]),
    ("Options", ["options", "option_values", "mcp_config", "sandbox"]),
    ("Messages", ["messages", "wire.blocks", "session_start"]),
    ("Permissions", ["approval"]),
    ("Hooks", ["hook_matchers", "hook_inputs", "hook_outputs"]),
    ("Tools of one's own", ["tools"]),
    ("Structured output", ["structured"]),
    (
        "Sessions",
        [
            *("sessions", "session_records", "session_store", "sessions_in_stores"),
            *("session_edits_in_stores", "session_import"),
        ],
    ),
    ("What an agent answers", ["client_answers", "context_usage", "mcp_status"]),
    ("Errors", ["errors"]),
    ("Transports", ["conversation.channels"]),
]
"""The chapters, and the modules whose public names they hold."""


INTERNAL_BASES = {"Record", "ClientRequests"}
"""Classes whose names mean nothing to users."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Method(NamedTuple):
    """A method: its name, where it is written, and whether it has to be awaited."""

    name: str
    node: Function
    is_async: bool


class Source:
    """One module, parsed."""

    def __init__(self, module: str) -> None:
        base = ROOT / PACKAGE / Path(*module.split("."))
        package = base / "__init__.py"
        self.module = module
        self.is_package = package.exists()
        text = (package if self.is_package else base.with_suffix(".py")).read_text(encoding="utf-8")
        self.body = ast.parse(text).body

    def find(self, name: str) -> tuple[Source, ast.stmt, str | None]:
        """Return where a name is defined, its definition, and the text under it if it is an assignment."""
        for index, node in enumerate(self.body):
            if isinstance(node, ast.ClassDef | Function) and node.name == name:
                return self, node, None
            if name in assigned(node):
                return self, node, text_under(self.body, index)
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        return source(self._absolute(node)).find(alias.name)
        raise LookupError(f"{self.module} does not define {name}")

    def _absolute(self, node: ast.ImportFrom) -> str:
        """The module of this package that an import names."""
        here = self.module.split(".") if self.module else []
        parts = (node.module or "").split(".") if node.module else []
        if node.level == 0:
            return ".".join(parts[1:])
        up = node.level - (1 if self.is_package else 0)
        return ".".join([*here[: len(here) - up], *parts])


_sources: dict[str, Source] = {}


def source(module: str) -> Source:
    """Return a module, read once."""
    if module not in _sources:
        _sources[module] = Source(module)
    return _sources[module]


def assigned(node: ast.stmt) -> list[str]:
    """The names that a statement assigns to."""
    if isinstance(node, ast.AnnAssign):
        targets = [node.target]
    else:
        targets = node.targets if isinstance(node, ast.Assign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def text_under(body: list[ast.stmt], index: int) -> str | None:
    """The string that stands under an assignment and says what it means."""
    after = body[index + 1] if index + 1 < len(body) else None
    if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
        value = after.value.value
        return inspect.cleandoc(value) if isinstance(value, str) else None
    return None


# -- what is written about a name


def entry(module: str, name: str) -> str:
    """The paragraph, or paragraphs, of a name."""
    where, node, text = source(module).find(name)
    if isinstance(node, ast.ClassDef):
        return "\n\n".join([f"### {name}", *class_parts(where, node)])
    if isinstance(node, Function):
        return "\n\n".join([f"### {name}", fenced(signature(node)), doc(node)])
    value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
    parts = [f"### {name}", fenced(f"{name} = {ast.unparse(value)}" if value else name), text or ""]
    return "\n\n".join(part for part in parts if part)


def class_parts(where: Source, node: ast.ClassDef) -> Iterator[str]:
    """What is said about a class: itself, its fields, its methods, those of its bases here included."""
    line = f"class {node.name}"
    bases = [name for name in map(ast.unparse, node.bases) if name not in INTERNAL_BASES]
    start = next((method.node for method in methods(where, node) if method.name == "__init__"), None)
    if start is not None:
        line += arguments(start)
    elif bases:
        line += f"({', '.join(bases)})"
    yield fenced(line)
    yield doc(node)
    fields = list(described_fields(where, node))
    if fields:
        yield "\n".join(fields)
    for method in methods(where, node):
        if not method.name.startswith("_"):
            yield method_entry(method)


def described_fields(where: Source, node: ast.ClassDef) -> Iterator[str]:
    for owner in (*reversed(list(bases_here(where, node))), (where, node)):
        body = owner[1].body
        for index, statement in enumerate(body):
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                name = statement.target.id
                if name.startswith("_"):
                    continue
                default = f" = {ast.unparse(statement.value)}" if statement.value else ""
                text = text_under(body, index)
                told = f": {' '.join(text.split())}" if text else ""
                yield f"- `{name}: {ast.unparse(statement.annotation)}{default}`{told}"


def bases_here(where: Source, node: ast.ClassDef) -> Iterator[tuple[Source, ast.ClassDef]]:
    """The bases that are classes of this package, the nearest first."""
    for base in node.bases:
        name = ast.unparse(base).split("[")[0]
        try:
            owner, found, _ = where.find(name)
        except (LookupError, FileNotFoundError):
            continue
        if isinstance(found, ast.ClassDef):
            yield owner, found
            yield from bases_here(owner, found)


def methods(where: Source, node: ast.ClassDef) -> Iterator[Method]:
    """The methods of a class and of its bases here, each name once."""
    seen = set()
    for owner, cls in ((where, node), *bases_here(where, node)):
        for statement in cls.body:
            found = method_of(owner, statement)
            if found is not None and found.name not in seen:
                seen.add(found.name)
                yield found


def method_of(where: Source, statement: ast.stmt) -> Method | None:
    if isinstance(statement, Function):
        return Method(statement.name, statement, isinstance(statement, ast.AsyncFunctionDef))
    call = statement.value if isinstance(statement, ast.Assign) else None
    if not (isinstance(call, ast.Call) and call.args and isinstance(call.args[0], ast.Attribute)):
        return None
    # One that is made of the method of another class, as `name = _blocking(Other.name)`.
    owner, cls, _ = where.find(ast.unparse(call.args[0].value))
    assert isinstance(cls, ast.ClassDef)
    found = next(method for method in methods(owner, cls) if method.name == call.args[0].attr)
    return found._replace(is_async=False)


def method_entry(method: Method) -> str:
    node = method.node
    marks = {ast.unparse(mark) for mark in node.decorator_list}
    if "property" in marks:
        head = f"{node.name}: {ast.unparse(node.returns) if node.returns else 'Any'}"
    else:
        how = "async with " if "asynccontextmanager" in marks else "async " if method.is_async else ""
        head = f"{how}{node.name}{arguments(node)}"
    return f"- `{head}`" + "".join(f"  \n  {text}" for text in [indented(doc(node))] if text)


def signature(node: Function) -> str:
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    return f"{word} {node.name}{arguments(node)}"


def arguments(node: Function) -> str:
    """The parameters and the result, without `self`."""
    given = node.args
    plain = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(plain) - len(given.defaults)) + given.defaults
    parts = [parameter(*pair) for pair in zip(plain, defaults, strict=True)]
    if parts and plain[0].arg in {"self", "cls"}:
        parts.pop(0)
    if given.vararg or given.kwonlyargs:
        parts.append(f"*{parameter(given.vararg, None) if given.vararg else ''}")
    parts += [parameter(*pair) for pair in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    if given.kwarg:
        parts.append(f"**{parameter(given.kwarg, None)}")
    result = ast.unparse(node.returns) if node.returns and node.name != "__init__" else "None"
    return f"({', '.join(parts)})" + (f" -> {result}" if result != "None" else "")


def parameter(node: ast.arg, default: ast.expr | None) -> str:
    text = node.arg + (f": {ast.unparse(node.annotation)}" if node.annotation else "")
    return text + (f" = {ast.unparse(default)}" if default else "")


def doc(node: ast.ClassDef | Function) -> str:
    """The docstring; what is indented in it is a program."""
    text = ast.get_docstring(node) or ""
    parts = []
    for paragraph in text.split("\n\n"):
        is_code = all(line.startswith("    ") for line in paragraph.splitlines()) and paragraph
        if is_code and parts and parts[-1].startswith("```"):
            parts[-1] = parts[-1].removesuffix("\n```") + "\n\n" + textwrap.dedent(paragraph) + "\n```"
        else:
            parts.append(fenced(textwrap.dedent(paragraph)) if is_code else paragraph)
    return "\n\n".join(part for part in parts if part)


def indented(text: str) -> str:
    return text.replace("\n", "\n  ").replace("\n  \n", "\n\n")


def fenced(code: str) -> str:
    return f"```python\n{code}\n```"


# -- the whole


def reference() -> str:
    sys.path.insert(0, str(ROOT))
    import claude_wrapper  # noqa: PLC0415  # from this checkout
    from claude_wrapper import testing  # noqa: PLC0415  # likewise

    table = dict(claude_wrapper._MODULES)  # noqa: SLF001  # the table of names belongs to the package
    chapters = [HEAD]
    for topic, modules in TOPICS:
        chapters.append(f"## {topic}\n")
        for module in modules:
            chapters += [entry(module, name) + "\n" for name in table.pop(module)]
    if table:
        sys.exit(f"no topic of scripts/build_reference.py holds the modules {', '.join(table)}")
    chapters.append("## claude_wrapper.sync\n")
    chapters += [entry("sync", name) + "\n" for name in ("query", "ClaudeSDKClient")]
    chapters.append("## claude_wrapper.testing\n")
    chapters += [entry(f"testing.{testing._MODULES[name]}", name) + "\n" for name in testing.__all__]  # noqa: SLF001  # likewise
    return "\n".join(chapters)


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--check"]):
        print(__doc__)
        return 2
    text = reference()
    if not arguments:
        TARGET.write_text(text, encoding="utf-8")
        return 0
    if TARGET.is_file() and TARGET.read_text(encoding="utf-8") == text:
        return 0
    print(f"{TARGET.relative_to(ROOT)} is not up to date; run scripts/build_reference.py")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
