from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from claude_wrapper.agent.permissions.call import Call, Decision
from claude_wrapper.agent.permissions.decide import decide
from claude_wrapper.agent.permissions.policy import Policy

CALL_FIELDS = {"needs_permission", "requires_interaction"}


class Place:
    """A project folder, a home and a folder that belongs to nobody, with a way to ask for decisions."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.project = root / "work" / "project"
        self.home = root / "home" / "user"
        self.outside = root / "elsewhere"
        for folder in (self.project / "src", self.home, self.outside):
            folder.mkdir(parents=True)
        for file in ("a", "b", "src/f", ".env"):
            (self.project / file).write_text("text\n")
        (self.outside / "secret").write_text("secret\n")

    def policy(self, mode="default", *, allow=(), deny=(), ask=(), source="cliArg", **fields) -> Policy:
        policy = Policy(mode=mode, original_cwd=str(self.project), home=str(self.home), **fields)
        for behavior, texts in (("allow", allow), ("deny", deny), ("ask", ask)):
            policy, _ = policy.with_rules(texts, behavior, source)
        return policy

    def decide(self, tool: str, policy: Policy | None = None, **fields) -> Decision:
        extra = {key: fields.pop(key) for key in CALL_FIELDS & fields.keys()}
        call = Call(tool, fields, self.project, (self.project,), **extra)
        return decide(call, policy or self.policy())

    def bash(self, command: str, policy: Policy | None = None, **fields) -> Decision:
        return self.decide("Bash", policy, command=command, **fields)


@pytest.fixture(scope="session")
def _place(tmp_path_factory) -> Place:
    return Place(tmp_path_factory.mktemp("place").resolve())


@pytest.fixture
def place(tmp_path) -> Place:
    """A place of one's own, for tests that change files or links in it."""
    return Place(tmp_path.resolve())


@pytest.fixture(scope="session")
def shared(_place) -> Place:
    """A place that nobody changes, for tables."""
    return _place


@pytest.fixture
def suggested() -> Callable[[Decision], object]:
    """The suggestions of a decision as they go over the wire."""
    return lambda decision: [msgspec.to_builtins(update) for update in decision.suggestions]


@pytest.fixture
def wire() -> SimpleNamespace:
    """Short forms of the updates that suggestions are made of."""
    return SimpleNamespace(
        rule=lambda *contents, tool="Bash", destination="localSettings": {
            "type": "addRules",
            "rules": [
                {"toolName": tool} | ({} if text is None else {"ruleContent": text}) for text in contents
            ],
            "behavior": "allow",
            "destination": destination,
        },
        folder=lambda path: {"type": "addDirectories", "directories": [str(path)], "destination": "session"},
        edits={"type": "setMode", "mode": "acceptEdits", "destination": "session"},
    )
