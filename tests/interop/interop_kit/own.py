"""What a scenario brought itself, so that a vendor's words can be told from it."""

import json
import re
from pathlib import PurePosixPath
from typing import Any

from interop_kit.rules import FACTS, OF_THE_AGENT, TOOLS_THAT_PASS_ON
from interop_kit.scenario import Scenario, strings_in

QUOTED = re.compile(r"(?<=[\"'])[A-Z][\w,.:]*(?: [\w,.:]+)+(?=[\\\"'])")
ANSWER_KEYS = ("can_use_tool", "hooks", "mcp", "answers")


class OwnWords:
    """The strings and names of one scenario."""

    def __init__(self, scenario: Scenario) -> None:
        texts = strings_in([scenario.model, scenario.runs, scenario.files, scenario.home_files, scenario.web])
        texts |= {line for text in texts for line in text.splitlines()}
        paths = [PurePosixPath(name) for name in [*scenario.files, *scenario.home_files]]
        answers = strings_in([run.get(key) for run in scenario.runs for key in ANSWER_KEYS])
        answers |= strings_in([step.get("ask") for run in scenario.runs for step in run.get("steps", [])])
        answers |= strings_in(scenario.web)
        # What settings and scripts of hooks print stands in quotes in them.
        written = [scenario.files, scenario.home_files, [run.get("options") for run in scenario.runs]]
        answers |= {found for text in strings_in(written) for found in QUOTED.findall(text)}
        memory = {text for name, text in scenario.files.items() if name.endswith(".md")}
        self._texts = sorted((text for text in texts if text.strip()), key=len, reverse=True)
        self._sentences = sorted(filter(is_sentence, answers | {text.strip() for text in memory}))
        self._names = texts | named(scenario.runs)
        self._names |= {path.parent.name if path.name == "SKILL.md" else path.stem for path in paths}

    def names(self, entry: Any) -> bool:
        """Whether an entry of a list (a name, or an object that has one) is the scenario's."""
        name = entry.get("name", entry.get("value")) if isinstance(entry, dict) else entry
        return name in self._names

    def says(self, text: str) -> bool:
        """Whether the whole of `text` is the scenario's, or a part of one of its texts."""
        return not text.strip() or any(text in own for own in self._texts)

    def sentences_in(self, text: str) -> list[str]:
        """The sentences that the scenario's callbacks and notes gave and that `text` passes on."""
        return [own for own in self._sentences if own in text]

    def worded(self, text: str) -> str:
        """`text` with a vendor's sentences reduced to what must agree: a fact's words, else the scenario's own."""
        prefix = next((word for word in ("Error: ", "Exception: ") if text.startswith(word)), "")
        rest = text.removeprefix(prefix)
        if self.says(rest) or not re.search(r"\s", rest.strip()):
            return text
        fact = next((found[0] for found in (fact.match(rest) for fact in FACTS) if found), "")
        rest = rest[len(fact) :]
        if self.says(rest):
            return prefix + fact + rest
        passed_on = self.sentences_in(rest)
        return prefix + fact + (f"<words: {json.dumps(passed_on)}>" if passed_on else "<words>")

    def reported(self, text: str, tool: str, *, failed: bool) -> str:
        """The text of a tool result: what a program or a file said stays, what the agent says of it is worded."""
        passed_on = tool in TOOLS_THAT_PASS_ON and not failed and not OF_THE_AGENT.match(text)
        return text if passed_on else self.worded(text)


def is_sentence(text: str) -> bool:
    """Whether a text is long enough not to occur by chance in a vendor's."""
    return " " in text.strip()


def named(value: Any) -> set[str]:
    """The names that runs give to agents and servers: there they are keys."""
    if isinstance(value, list):
        return {name for item in value for name in named(item)}
    if not isinstance(value, dict):
        return set()
    inner = {name for item in value.values() for name in named(item)}
    return inner | {name for key in ("agents", "mcp", "mcp_servers") for name in value.get(key) or ()}
