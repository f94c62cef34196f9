"""Going on with sessions that are in a session store."""

import itertools
import json
import stat
from pathlib import Path

import anyio
import pytest

from claude_wrapper import (
    ClaudeAgentOptions,
    CLINotFoundError,
    InMemorySessionStore,
    ResultMessage,
    SessionStoreError,
    query,
)
from claude_wrapper.testing import ScriptedAgent

pytestmark = pytest.mark.anyio

ID = "11111111-1111-4111-8111-111111111111"
OTHER = "22222222-2222-4222-8222-222222222222"


def entry(text, **more):
    return {
        "type": "user",
        "message": {"role": "user", "content": text},
        "uuid": text,
        "sessionId": ID,
        **more,
    }


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder to work in, and a home whose temporary files are the test's."""
    home, project = tmp_path / "home", tmp_path / "project"
    for folder in (home, project, tmp_path / "tmp"):
        folder.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    for name in ("CLAUDE_CONFIG_DIR", "CLAUDE_CODE_PROJECT_DIR_NAME"):
        monkeypatch.delenv(name, raising=False)
    return project


@pytest.fixture
def key(project):
    name = "".join(c if c.isalnum() else "-" for c in str(project))
    return {"project_key": name, "session_id": ID}


@pytest.fixture
def run(tmp_path, project):
    """Runs an agent, and gives its start and what it found in the configuration folder it was given."""

    numbers = itertools.count()

    async def run(store, **options):
        with ScriptedAgent(tmp_path / f"agent-{next(numbers)}") as agent:
            agent.begin().stall("look").result()
            found = None
            with anyio.fail_after(40):
                async for message in query(
                    prompt="go",
                    options=ClaudeAgentOptions(
                        cli_path=agent.path, cwd=project, session_store=store, **options
                    ),
                ):
                    if not isinstance(message, ResultMessage):
                        config = agent.runs[0].env.get("CLAUDE_CONFIG_DIR")
                        found = None if config is None else Tree(Path(config))
                        agent.gate("look").release()
            return agent.runs[0], found

    return run


class Tree:
    """What is in a folder."""

    def __init__(self, root):
        self.root = root
        paths = [root, *root.rglob("*")]
        self.modes = {str(path.relative_to(root)): stat.S_IMODE(path.stat().st_mode) for path in paths}
        self.files = {str(path.relative_to(root)): path.read_text() for path in paths if path.is_file()}

    def entries(self, name):
        return [json.loads(line) for line in self.files[name].splitlines()]


@pytest.mark.feature("STORE-04")
async def test_a_session_is_put_where_the_agent_looks_for_it(run, key):
    store = InMemorySessionStore()
    entries = [entry("é"), entry("two")]
    await store.append(key, entries)

    agent, found = await run(store, resume=ID)

    assert f"--resume={ID}" in agent.argv
    assert found.entries(f"projects/{key['project_key']}/{ID}.jsonl") == entries
    assert not found.root.exists()


@pytest.mark.feature("STORE-04")
async def test_subagents_come_along_with_what_is_beside_their_transcripts(run, key):
    store = InMemorySessionStore()
    await store.append(key, [entry("one")])
    for subpath in (
        "subagents/agent-a1",
        "subagents/deep/agent-b2",
        "../../evil",
        "/evil",
        "./subagents/agent-a1",
    ):
        await store.append({**key, "subpath": subpath}, [entry(subpath)])
    await store.append(
        {**key, "subpath": "subagents/agent-a1"}, [{"type": "agent_metadata", "toolUseId": "t"}]
    )

    _, found = await run(store, resume=ID)

    folder = f"projects/{key['project_key']}/{ID}"
    assert sorted(name for name in found.files if ID in name) == [
        f"{folder}.jsonl",
        f"{folder}/subagents/agent-a1.jsonl",
        f"{folder}/subagents/agent-a1.meta.json",
        f"{folder}/subagents/deep/agent-b2.jsonl",
    ]
    assert json.loads(found.files[f"{folder}/subagents/agent-a1.meta.json"]) == {"toolUseId": "t"}


@pytest.mark.feature("STORE-04")
async def test_nobody_else_can_read_what_was_written(run, key):
    store = InMemorySessionStore()
    await store.append(key, [entry("one")])

    _, found = await run(store, resume=ID)

    assert {mode for name, mode in found.modes.items() if name in found.files} == {0o600}
    assert {mode for name, mode in found.modes.items() if name not in found.files} == {0o700}


@pytest.mark.feature("STORE-04")
async def test_the_agent_is_logged_in_and_set_up_as_before(run, key, tmp_path):
    store = InMemorySessionStore()
    await store.append(key, [entry("one")])
    home = tmp_path / "home"
    (home / ".claude").mkdir()
    login = {"accessToken": "a", "refreshToken": "once", "expiresAt": 1}
    (home / ".claude" / ".credentials.json").write_text(json.dumps({"claudeAiOauth": login}))
    (home / ".claude" / "settings.json").write_text('{"model": "m"}')
    (home / ".claude.json").write_text('{"userID": "u"}')

    _, found = await run(store, resume=ID)

    assert json.loads(found.files[".credentials.json"]) == {
        "claudeAiOauth": {"accessToken": "a", "expiresAt": 1}
    }
    assert (found.files["settings.json"], found.files[".claude.json"]) == (
        '{"model": "m"}',
        '{"userID": "u"}',
    )
    assert json.loads((home / ".claude" / ".credentials.json").read_text())["claudeAiOauth"] == login


async def test_a_configuration_folder_of_the_options_is_taken_over(run, key, tmp_path):
    store = InMemorySessionStore()
    await store.append(key, [entry("one")])
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / ".claude.json").write_text('{"own": 1}')
    (tmp_path / "own" / ".credentials.json").write_text("no json")

    _, found = await run(store, resume=ID, env={"CLAUDE_CONFIG_DIR": str(tmp_path / "own")})

    assert (found.files[".claude.json"], found.files[".credentials.json"]) == ('{"own": 1}', "no json")
    assert found.root != tmp_path / "own"
    assert (tmp_path / "own").exists()


async def test_a_name_of_the_project_folder_counts_only_where_it_did(run, key, project):
    store = InMemorySessionStore()
    await store.append(key, [entry("one")])
    await store.append({**key, "project_key": "fixed"}, [entry("fixed")])
    fixed = {"CLAUDE_CODE_PROJECT_DIR_NAME": "fixed"}

    agent, found = await run(store, resume=ID, env=fixed)
    assert found.entries(f"projects/{key['project_key']}/{ID}.jsonl") == [entry("one")]
    assert agent.env["CLAUDE_CODE_PROJECT_DIR_NAME"] == ""

    agent, found = await run(store, resume=ID, env={**fixed, "CLAUDE_CONFIG_DIR": str(project)})
    assert found.entries(f"projects/fixed/{ID}.jsonl") == [entry("fixed")]


class Listed(InMemorySessionStore):
    """A store that lists its sessions with times of the test's choice, and notes what is loaded."""

    def __init__(self, times):
        super().__init__()
        self.times = times
        self.loaded = []

    async def list_sessions(self, project_key):
        return [{"session_id": session, "mtime": mtime} for session, mtime in self.times.items()]

    async def load(self, key):
        self.loaded.append(key["session_id"][0])
        return await super().load(key)


@pytest.mark.feature("STORE-04", "SESS-05")
async def test_to_continue_takes_the_newest_conversation(run, key):
    spoken, older, subagent, silent = ID, OTHER, ID.replace("1", "3"), ID.replace("1", "4")
    store = Listed({older: 10, subagent: 50, spoken: 30, silent: 40})
    for session, entries in (
        (spoken, [entry("x")]),
        (older, [entry("y")]),
        (subagent, [entry("z", isSidechain=True)]),
        (silent, [{"type": "tag", "tag": "t"}]),
    ):
        await store.append({**key, "session_id": session}, entries)

    agent, _ = await run(store, continue_conversation=True)

    assert f"--resume={spoken}" in agent.argv
    assert "--continue" not in agent.argv
    assert store.loaded == ["3", "4", "1"]


@pytest.mark.feature("STORE-04")
async def test_what_the_store_does_not_have_is_the_agents_affair(run, key):
    store = InMemorySessionStore()
    await store.append(key, [entry("one")])

    for options, flag in (
        ({"resume": OTHER}, f"--resume={OTHER}"),
        ({"resume": "a title"}, "--resume=a title"),
        ({"session_id": OTHER}, f"--session-id={OTHER}"),
    ):
        agent, found = await run(store, **options)
        assert flag in agent.argv
        assert found is None
    agent, found = await run(InMemorySessionStore(), continue_conversation=True)
    assert "--continue" in agent.argv
    assert found is None


class Failing(InMemorySessionStore):
    """A store one of whose methods fails or takes its time."""

    def __init__(self, method, failure=None):
        super().__init__()

        async def fail(*_):
            if failure is None:
                await anyio.sleep_forever()
            raise failure

        setattr(self, method, fail)


@pytest.mark.feature("STORE-04")
@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("load", {"resume": ID}),
        ("list_subkeys", {"resume": ID}),
        ("list_sessions", {"continue_conversation": True}),
    ],
)
async def test_a_store_that_fails_or_hangs_is_told(method, options, run, key, tmp_path):
    for failure, message in (
        (LookupError("no such table"), rf"{method}\(\).* failed: no such table"),
        (None, rf"{method}\(\).* took longer than 50 ms"),
    ):
        store = Failing(method, failure)
        await store.append(key, [entry("one")])
        with pytest.raises(SessionStoreError, match=message) as caught:
            await run(store, load_timeout_ms=50, **options)
        assert isinstance(caught.value, RuntimeError)
        assert caught.value.__cause__ is failure or failure is None
    assert list((tmp_path / "tmp").iterdir()) == []


async def test_a_session_that_cannot_be_written_is_told(run, key, tmp_path):
    store = InMemorySessionStore()
    await store.append(key, [entry("one", bad=object())])

    with pytest.raises(SessionStoreError, match=f"Session {ID} could not be written"):
        await run(store, resume=ID)
    assert list((tmp_path / "tmp").iterdir()) == []


async def test_nothing_is_left_behind_where_no_agent_is_found(key, project, tmp_path):
    store = InMemorySessionStore()
    await store.append(key, [entry("one")])

    options = ClaudeAgentOptions(cli_path="/no/such/agent", cwd=project, session_store=store, resume=ID)
    with pytest.raises(CLINotFoundError):
        await anext(query(prompt="go", options=options))
    assert list((tmp_path / "tmp").iterdir()) == []
