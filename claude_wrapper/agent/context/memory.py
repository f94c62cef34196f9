"""The instructions of a session: what the model is told of them, and when."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from .memory_files import MemoryFile, MemoryFiles, MemoryPlaces

__all__ = ["Memory"]

_FOREWORD = (
    "The user and the project have written down how work is to be done here. "
    "Keep to it; it counts more than what you would do by yourself."
)
_KINDS = {
    "Managed": "instructions of the administrator, for everybody on this machine",
    "User": "the user's own instructions, for all projects",
    "Project": "instructions of the project, which all its people share",
    "Local": "the user's own instructions for this project",
    "AutoMem": "what you wrote down in earlier conversations",
}


class Memory:
    """Reads instructions; `places` says where, None if there are to be none."""

    def __init__(self, places: Callable[[], MemoryPlaces | None] = lambda: None) -> None:
        self._places = places
        self._files: MemoryFiles | None = None
        self.foreword: str | None = None
        """What goes ahead of the conversation."""
        self.begun = False

    def begin(self) -> list[MemoryFile]:
        """Read what is known from the start, anew; returns the files."""
        places = self._places()
        self._files, self.foreword, self.begun = None, None, True
        if places is None:
            return []
        self._files = MemoryFiles(places)
        found = self._files.at_start()
        if found:
            self.foreword = "\n\n".join([_FOREWORD, *map(_headed, found)])
        return found

    def forget(self) -> None:
        """The conversation begins anew, and what it is to know is read again."""
        self._files, self.foreword, self.begun = None, None, False

    def on_read(self, paths: Iterable[Path]) -> list[MemoryFile]:
        """What counts now that these files are read."""
        if self._files is None:
            return []
        return [file for path in paths for file in self._files.on_read(path)]

    @staticmethod
    def note(file: MemoryFile) -> str:
        """What the model is told of a file that counts from now on."""
        return f"Contents of {file.path}:\n\n{file.text}"


def _headed(file: MemoryFile) -> str:
    return f"Contents of {file.path} ({_KINDS[file.kind]}):\n\n{file.text}"
