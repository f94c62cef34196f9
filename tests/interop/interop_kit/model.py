"""The scripted model of a cell, and word to the driver when a reply stands at one of its gates."""

import json
import threading
from pathlib import Path
from typing import Any

from claude_wrapper.testing import ScriptedModel, ScriptTimeoutError
from interop_kit.observation import Row

PATIENCE = 60.0


class Model:
    """A ScriptedModel that writes `folder/NAME` once a reply stands at the gate of that name."""

    def __init__(self, script: Any, folder: Path) -> None:
        folder.mkdir()
        path = folder.with_suffix(".json")
        path.write_text(json.dumps(script))
        self._folder = folder
        self._model = ScriptedModel(path)
        self._gates = sorted(gate_names(script))

    def start(self) -> None:
        """Listen, and wait for replies at the gates."""
        self._model.start()
        for name in self._gates:
            threading.Thread(target=self._tell, args=(name,), daemon=True).start()

    def close(self) -> None:
        """Stop listening. Whether the agent used the script up shows in the comparison."""
        self._model.close()

    def _tell(self, name: str) -> None:
        try:
            self._model.gate(name).wait(PATIENCE)
        except ScriptTimeoutError:
            return
        (self._folder / name).touch()

    @property
    def url(self) -> str:
        return self._model.url

    def requests(self) -> list[Row]:
        """The requests that the script answered."""
        return [
            {"path": request.path, "headers": request.headers, "body": request.body}
            for request in self._model.requests
        ]


def gate_names(script: Any) -> set[str]:
    """The gates of all turns."""
    if isinstance(script, list):
        return {name for item in script for name in gate_names(item)}
    if not isinstance(script, dict):
        return set()
    own = {script["gate"]} if isinstance(script.get("gate"), str) else set()
    return own | {name for item in script.values() for name in gate_names(item)}
