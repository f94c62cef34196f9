"""Places that no rule opens: what must not be removed by accident, and files that steer other programs."""

from __future__ import annotations

import re

from . import paths
from .ground import Ground
from .reveal import Arguments

_PROTECTED_FOLDERS = frozenset(
    {".git", ".vscode", ".idea", ".husky", ".cargo", ".devcontainer", ".yarn", ".mvn", ".claude"}
)
_PROTECTED_FILES = frozenset(
    {
        ".bash_aliases",
        ".bash_login",
        ".bash_logout",
        ".bash_profile",
        ".bashrc",
        ".bazelrc",
        ".claude.json",
        ".cshrc",
        ".devcontainer.json",
        ".envrc",
        ".gitconfig",
        ".gitmodules",
        ".kshrc",
        ".lefthook.yaml",
        ".lefthook.yml",
        ".mcp.json",
        ".npmrc",
        ".pre-commit-config.yaml",
        ".pre-commit-config.yml",
        ".profile",
        ".ripgreprc",
        ".tcshrc",
        ".zlogin",
        ".zlogout",
        ".zprofile",
        ".zshenv",
        ".zshrc",
        "bunfig.toml",
        "lefthook.yaml",
        "lefthook.yml",
        "pyrightconfig.json",
    }
)
_PROTECTED_NAME = re.compile(r"\.yarnrc(?:\..*)?|\.pnp(?:\..*)?|[^/]*-wrapper\.properties")
_EVERYTHING = frozenset({"*", ".*", "**", "{*,.*}", ".[!.]*", "?*", "*.*"})
_VARIABLE_FIRST = re.compile(r"\"?\$(?:\w+|\{[^}]*\})\"?(?:/+\"?(?:\*|\.\*|\{\*,\.\*\})?\"?)\Z")


def protected(names: tuple[str, ...]) -> bool:
    """Whether a file steers a tool of the developer, so that changing it is never taken for granted."""
    return any(_is_protected(name) for name in names)


def _is_protected(name: str) -> bool:
    parts = [part for part in paths.folded(name).split("/") if part]
    if not parts:
        return False
    if parts[-1] in _PROTECTED_FILES or _PROTECTED_NAME.fullmatch(parts[-1]):
        return True
    for at, part in enumerate(parts):
        if part == ".claude" and parts[at + 1 : at + 2] == ["worktrees"] and len(parts) > at + 2:
            continue
        if part in _PROTECTED_FOLDERS or (part == ".config" and parts[at + 1 : at + 2] == ["git"]):
            return True
    return False


def critical_removal(arguments: Arguments, ground: Ground, folders: tuple[str, ...]) -> str | None:
    """The target of a removal that would take away more than anybody means to, or None.

    `folders` are those in which the command may find itself.
    """
    if arguments[0].rsplit("/", 1)[-1] not in {"rm", "rmdir"}:
        return None
    last = arguments.index("--") if "--" in arguments else len(arguments)
    for at, word in enumerate(arguments[1:], start=1):
        if at == last or (at < last and word.startswith("-")):
            continue
        if _may_be_everything(word) or any(_is_critical(word, ground, folder) for folder in folders):
            return word
    return None


def _may_be_everything(word: str) -> bool:
    """Whether the target cannot be known, or is all there is once a variable turns out empty."""
    if word.startswith(("$(", "`", "<(")):
        return True
    return (
        not word.startswith(("$HOME", "${HOME}", "$PWD", "${PWD}"))
        and _VARIABLE_FIRST.match(word) is not None
    )


def _is_critical(word: str, ground: Ground, folder: str) -> bool:
    known = {"$HOME": ground.home, "${HOME}": ground.home, "$PWD": folder, "${PWD}": folder}
    for variable, value in known.items():
        if word == variable or word.startswith(variable + "/"):
            word = value + word[len(variable) :]
    while word not in {"", "/"} and paths.last_part(word.rstrip("/")) in _EVERYTHING:
        word = paths.parent(word.rstrip("/")) or "."
    if paths.GLOB_CHARACTERS.intersection(word):
        return False
    return any(_holds_too_much(name, ground) for name in ground.names_of(word, folder))


def _holds_too_much(name: str, ground: Ground) -> bool:
    """Whether a folder is the root, right below it, or holds the home or a working folder."""
    if paths.parent(name) == "/" or paths.parent(name) == name:
        return True
    kept = (*ground.names_of(ground.home), *ground.within, ground.cwd)
    return any(paths.is_inside(folder, name) for folder in kept)
