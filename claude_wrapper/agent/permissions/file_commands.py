"""Programs that work on files: which of their arguments they read, and which they change (as of 2026-11)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from . import paths
from .output_options import by_options
from .readonly_commands import READ_ONLY
from .shell_line import Command

Arguments = tuple[str, ...]

MAKES_OR_REMOVES = frozenset({"mkdir", "touch", "rm", "rmdir", "mv", "cp", "sed"})
"""What acceptEdits lets run."""
CHANGES_FILES_ONLY = MAKES_OR_REMOVES | {"tee"}
"""Where the question is about the files rather than about the program."""

_EDITORS = frozenset({"ed", "ex", "nano", "vi", "vim", "nvim"})
_WRITERS = (
    MAKES_OR_REMOVES
    | _EDITORS
    | {
        "patch",
        "script",
        "tee",
        "ln",
        "chmod",
        "chown",
        "truncate",
        "install",
        "shred",
        "unlink",
        "rsync",
    }
)
_READERS = frozenset(
    name for name, known in READ_ONLY.items() if known.takes_files and known.only is None
) | {
    *_EDITORS,
    "awk",
    "bat",
    "bzcat",
    "cp",
    "csplit",
    "find",
    "gawk",
    "git",
    "join",
    "less",
    "ln",
    "mawk",
    "more",
    "mv",
    "pr",
    "rsync",
    "scp",
    "sed",
    "shuf",
    "split",
    "tar",
    "tsort",
    "uniq",
    "view",
    "xxd",
    "xzcat",
    "zcat",
    "zip",
}
_RECURSES = re.compile(r"-[^-]*[rRd]|--(?:r|d)")
_WHOLE_FOLDERS = frozenset({"cp", "diff", "rg", "rsync", "scp", "tar", "zip"})
_NONE = re.compile(r"(?!)")
_SAFE_OPTIONS = {
    "mkdir": re.compile(r"-[pvm]+\Z|--(?:parents|verbose)\Z"),
    "touch": re.compile(r"-[acmh]+\Z|--no-create\Z"),
    "rm": re.compile(r"-[rRfidvI]+\Z|--(?:recursive|force|verbose|dir)\Z"),
    "rmdir": re.compile(r"-v\Z|--verbose\Z"),
    "mv": _NONE,
    "cp": _NONE,
}
_SED_OPTION = re.compile(r"-[iEr]+\Z|--in-place\Z")
_SED_SCRIPT = re.compile(r"s/(?:[^\\/\n]|\\.)*/(?:[^\\/\n]|\\.)*/[gpiI0-9]*\Z")


@dataclass(frozen=True, slots=True)
class Effects:
    """The files that a command may read and change, as they are named in it."""

    reads: Arguments = ()
    writes: Arguments = ()
    fills: Arguments = ()
    """Folders in which it may change files that it does not name."""


def effects(arguments: Arguments) -> Effects:
    """What a command of a known kind does to the files it is given; nothing for others."""
    program = arguments[0].rsplit("/", 1)[-1]
    if program == "dd":
        pairs = [word.partition("=") for word in arguments[1:]]
        return Effects(
            tuple(value for key, _, value in pairs if key == "if"),
            tuple(value for key, _, value in pairs if key == "of"),
        )
    files = _files(arguments[1:])
    writes = program in _WRITERS and (program != "sed" or _in_place(arguments))
    reads = _sed_files(arguments, files) if program == "sed" else files
    written = _written(program, arguments, files) if writes else ()
    others = tuple(by_options(program, arguments))
    if program == "sed":
        reads = (*reads, *others)
    return Effects(
        reads if program in _READERS else (),
        (*written, *others),
        _filled(program, arguments, files),
    )


def named_files(command: Command) -> Arguments:
    """The files that a command reads or changes; in a folder that is copied to, what would be written there."""
    arguments = tuple(word.value or word.literal for word in command.words)
    if arguments[0] == "sed":
        return tuple(_named_by_sed(arguments[1:]))
    done = effects(arguments)
    copies = done.reads if arguments[0] == "cp" else ()
    into = (paths.joined(folder, paths.last_part(file)) for folder in done.writes for file in copies)
    return tuple(dict.fromkeys((*done.reads, *done.writes, *into)))


def _named_by_sed(words: Arguments) -> Iterator[str]:
    """Files of scripts, and the files that they are used on."""
    waiting = iter(words)
    has_script = False
    for word in waiting:
        if word in {"-e", "--expression"}:
            has_script = next(waiting, None) is not None
        elif word in {"-f", "--file"}:
            has_script = True
            yield from filter(None, [next(waiting, None)])
        elif word.startswith(("-e", "--expression=", "--file=")):
            has_script = True
        elif word.startswith("-") and word != "-":
            continue
        elif has_script:
            yield word
        else:
            has_script = True


def shows_whole_folders(arguments: Arguments) -> bool:
    """Whether a command reads every file below a folder that it is given."""
    program = arguments[0].rsplit("/", 1)[-1]
    if program in {"egrep", "fgrep", "grep"}:
        return any(_RECURSES.match(word) for word in arguments[1:])
    return program in _WHOLE_FOLDERS or (program == "git" and "grep" in arguments)


def is_recognised(program: str) -> bool:
    """Whether it is known of a program which of its arguments are files that it reads or changes."""
    return program in _READERS or program in _WRITERS


def is_simple_file_command(command: Command) -> bool:
    """Whether a command is one that acceptEdits lets run, with options that touch no other file."""
    words = [word.value for word in command.words]
    if not words or words[0] not in MAKES_OR_REMOVES or any(word.is_glob for word in command.words):
        return False
    if any(word is None or not word for word in words):
        return False
    known = [word for word in words if word is not None]
    if known[0] == "sed":
        return _is_simple_sed(known[1:])
    shape = _SAFE_OPTIONS[known[0]]
    return all(shape.match(word) for word in known[1:] if word.startswith("-"))


def _files(words: Arguments) -> Arguments:
    """The words that may name files: all but options, and what stands inside an option."""
    last = words.index("--") if "--" in words else len(words)
    found: list[str] = []
    for at, word in enumerate(words):
        if at == last:
            continue
        if at > last or not word.startswith("-") or word == "-":
            found.append(word)
        elif "=" in word:
            found.append(word.partition("=")[2])
        elif not word.startswith("--") and not word[2:].isalnum() and len(word) > 2:
            found.append(word[2:])
    return tuple(found)


def _written(program: str, arguments: Arguments, files: Arguments) -> Arguments:
    if program in {"chmod", "chown", "sed"}:
        return files[1:] or files
    if program in {"cp", "ln", "install", "rsync"}:
        into_folder = any(word.startswith(("-t", "--target")) for word in arguments)
        return files if into_folder else (*files[-1:], *_copies(files))
    if program == "mv":
        return (*files, *_copies(files))
    return files


def _copies(files: Arguments) -> Iterator[str]:
    """What would be written should the last file be a folder."""
    for file in files[:-1]:
        yield f"{files[-1].rstrip('/')}/{file.rstrip('/').rsplit('/', 1)[-1]}"


def _filled(program: str, arguments: Arguments, files: Arguments) -> Arguments:
    """Folders of which any file may change."""
    if program in {"cp", "rsync", "mv"}:
        return files[-1:]
    if program in {"tar", "unzip", "patch", "cpio"}:
        return (".", *files)
    if program == "find" and "-delete" in arguments:
        return files or (".",)
    return ()


def _sed_files(arguments: Arguments, files: Arguments) -> Arguments:
    """The first word is the script, unless options give it."""
    scripted = any(word.startswith(("-f", "--file")) for word in arguments)
    return files if scripted else files[1:] or files


def _in_place(arguments: Arguments) -> bool:
    return any(re.match(r"-[a-zA-Z]*i|--in-place", word) for word in arguments[1:])


def _is_simple_sed(words: list[str]) -> bool:
    """`sed -i` with one script that replaces, nothing else."""
    options = [word for word in words if word.startswith("-")]
    plain = [word for word in words if not word.startswith("-")]
    if len(plain) < 2 or not all(_SED_OPTION.match(option) for option in options):
        return False
    return _in_place(("sed", *options)) and _SED_SCRIPT.match(plain[0]) is not None
