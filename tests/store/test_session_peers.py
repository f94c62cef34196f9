"""Sessions as the official SDK sees them, and sessions that Claude Code wrote: the same for both libraries."""

import dataclasses
import json
import os
import random
import shutil
import subprocess
from pathlib import Path

import anyio
import pytest

import claude_wrapper
from claude_wrapper import (
    ClaudeAgentOptions,
    InMemorySessionStore,
    MirrorErrorMessage,
    ResultMessage,
    fold_session_summary,
    fork_session,
    get_session_info,
    get_session_messages,
    list_sessions,
    project_key_for_directory,
    query,
    rename_session,
    tag_session,
)
from claude_wrapper.testing import ScriptedModel, call, say

PEERS = os.environ.get("CLAUDE_WRAPPER_PEERS")
pytestmark = [
    pytest.mark.peers,
    pytest.mark.timeout(180),
    pytest.mark.skipif(not PEERS, reason="CLAUDE_WRAPPER_PEERS does not name the folder of the peers"),
]

LIMIT = 90
OTHER = "22222222-2222-4222-8222-222222222222"


@pytest.fixture
def official(transcripts, tmp_path):
    """Calls functions of the official SDK on the same folder."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "CLAUDE_CONFIG_DIR": str(transcripts.config),
    }

    def official(*calls):
        done = subprocess.run(
            [Path(PEERS, "pyenv", "bin", "python"), Path(__file__).with_name("official_calls.py")],
            input=json.dumps(calls).encode(),
            capture_output=True,
            env=environment,
            timeout=LIMIT,
            check=False,
        )
        assert not done.returncode, done.stderr.decode()
        return json.loads(done.stdout)

    return official


def ours(name, arguments):
    try:
        result = getattr(claude_wrapper, name)(**arguments)
    except Exception as error:  # noqa: BLE001  # whatever it raises is what is compared
        return {"raise": type(error).__name__}
    if isinstance(result, list):
        return {"result": [dataclasses.asdict(r) if dataclasses.is_dataclass(r) else r for r in result]}
    return {"result": dataclasses.asdict(result) if dataclasses.is_dataclass(result) else result}


@pytest.fixture
def same(official):
    """Makes the same calls of both libraries, which must have the same results; gives ours."""

    def same(*calls):
        results = [ours(*each) for each in calls]
        for each, our, their in zip(calls, results, official(*calls), strict=True):
            assert json.loads(json.dumps(our)) == their, each
        return results

    return same


@pytest.fixture
def claude(transcripts, tmp_path):
    """Runs Claude Code in the project against a model."""
    (executable,) = Path(PEERS).glob("pyenv/lib/python3*/site-packages/claude_agent_sdk/_bundled/claude")

    def claude(model, prompt, *arguments):
        done = subprocess.run(
            [executable, "-p", prompt, "--output-format", "stream-json", "--verbose", *arguments],
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(tmp_path),
                "CLAUDE_CONFIG_DIR": str(transcripts.config),
                **model.environment(),
            },
            cwd=transcripts.project,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            timeout=LIMIT,
            check=False,
        )
        frames = [json.loads(line) for line in done.stdout.splitlines()]
        assert done.returncode == 0, frames[-1:]
        return frames

    claude.executable = executable
    return claude


@pytest.fixture
def real(transcripts, claude):
    """A session that Claude Code wrote: tools side by side, a subagent, a compaction, a second prompt."""
    (transcripts.project / "a.txt").write_text("alpha\n")
    read = {"file_path": str(transcripts.project / "a.txt")}
    agent = {
        "description": "d",
        "prompt": "look",
        "subagent_type": "general-purpose",
        "run_in_background": False,
    }
    allowed = ("--allowedTools", "Bash,Read,Agent", "--model", "claude-sonnet-4-5")
    with ScriptedModel(
        [say("Two at once") + call("Bash", command="echo hi") + call("Read", read), say("done")]
    ) as model:
        claude(model, "First", "--session-id", transcripts.session, *allowed)
    with ScriptedModel([call("Agent", agent), call("Read", read), say("sub done"), say("all done")]) as model:
        claude(model, "Second", "--resume", transcripts.session, *allowed)
    with ScriptedModel([say("short")]) as model:
        claude(model, "/cost", "--session-id", OTHER, *allowed)
    return transcripts


def every_reader(session, directory):
    calls = [("list_sessions", {}), ("list_sessions", {"directory": directory, "limit": 1})]
    for where in ({}, {"directory": directory}):
        calls += [
            ("get_session_info", {"session_id": session, **where}),
            ("get_session_messages", {"session_id": session, **where}),
            ("list_subagents", {"session_id": session, **where}),
        ]
    return calls


@pytest.mark.feature("SESS-12")
def test_a_session_of_claude_code_reads_the_same(real, same):
    results = same(*every_reader(real.session, str(real.project)))

    shown = results[3]["result"]
    assert sum("tool_result" in str(message["message"]["content"]) for message in shown) >= 3
    agent_id = results[4]["result"][0]
    (subagent,) = same(("get_subagent_messages", {"session_id": real.session, "agent_id": agent_id}))
    assert len(subagent["result"]) >= 3
    assert all(message["parent_tool_use_id"] for message in subagent["result"])


@pytest.mark.feature("SESS-13")
def test_changes_of_one_are_seen_by_the_other(real, same, official):
    session, directory = real.session, str(real.project)
    info = ("get_session_info", {"session_id": session, "directory": directory})

    rename_session(session, "Über “us”", directory)
    tag_session(session, "t\u200bag", directory)
    (seen,) = same(info)
    assert (seen["result"]["custom_title"], seen["result"]["tag"]) == ("Über “us”", "tag")

    official(
        ("rename_session", {"session_id": session, "title": "Über “them”", "directory": directory}),
        ("tag_session", {"session_id": session, "tag": None, "directory": directory}),
    )
    (seen,) = same(info)
    assert (seen["result"]["custom_title"], seen["result"]["tag"]) == ("Über “them”", None)


@pytest.mark.feature("SESS-13")
def test_a_fork_is_the_same_by_either(real, official, same):
    session, directory = real.session, str(real.project)
    place = get_session_messages(session)[2].uuid
    for options in ({}, {"up_to_message_id": place, "title": "Mine"}):
        (answer,) = official(("fork_session", {"session_id": session, "directory": directory, **options}))
        theirs, own = answer["result"]["session_id"], fork_session(session, directory, **options).session_id
        one, two = (
            same(
                ("get_session_info", {"session_id": fork, "directory": directory}),
                ("get_session_messages", {"session_id": fork, "directory": directory}),
            )
            for fork in (theirs, own)
        )
        assert one[0]["result"]["custom_title"] == two[0]["result"]["custom_title"]
        for key in ("type", "message"):
            assert [m[key] for m in one[1]["result"]] == [m[key] for m in two[1]["result"]]
        kinds = [[entry["type"] for entry in real.read(fork)] for fork in (theirs, own)]
        assert kinds[0] == kinds[1]


@pytest.mark.feature("SESS-13")
def test_claude_code_goes_on_with_our_fork(real, claude):
    last = get_session_messages(real.session)[-1].message["content"][0]["text"]
    fork = fork_session(real.session, str(real.project), title="Fork").session_id
    with ScriptedModel([say("went on")]) as model:
        frames = claude(model, "Third", "--resume", fork, "--model", "claude-sonnet-4-5")
        asked = str(model.requests[-1].messages)

    assert frames[-1]["session_id"] == fork
    assert [text for text in ("First", "Two at once", "Second", last, "Third") if text not in asked] == []
    assert get_session_messages(fork)[-1].message["content"][0]["text"] == "went on"


@pytest.mark.feature("SESS-13")
def test_what_one_deletes_is_gone_for_the_other(real, official, same):
    arguments = {"session_id": real.session, "directory": str(real.project)}
    copy = real.config / "copy"
    shutil.copytree(real.folder, copy)

    claude_wrapper.delete_session(**arguments)
    assert sorted(path.name for path in real.folder.glob(real.session + "*")) == []
    (seen,) = same(("get_session_info", arguments))
    assert seen["result"] is None

    shutil.copytree(copy, real.folder, dirs_exist_ok=True)
    official(("delete_session", arguments))
    assert get_session_info(**arguments) is None


FAILURES = [
    (name, {"session_id": session, **more})
    for name, more in [
        ("get_session_info", {}),
        ("get_session_messages", {}),
        ("list_subagents", {}),
        ("get_subagent_messages", {"agent_id": "x"}),
        ("rename_session", {"title": "t"}),
        ("rename_session", {"title": " "}),
        ("tag_session", {"tag": "t"}),
        ("tag_session", {"tag": ""}),
        ("delete_session", {}),
        ("fork_session", {}),
        ("fork_session", {"up_to_message_id": "x"}),
    ]
    for session in ("x", "", OTHER, OTHER.upper() + "0")
]


@pytest.mark.feature("SESS-13")
def test_bad_ids_and_missing_sessions_have_the_same_outcome(same, transcripts):
    transcripts.write(transcripts.user(1))

    same(*FAILURES)


# -- transcripts of every shape


def a_text(dice):
    return dice.choice(
        ["plain", "two\nlines", "x" * 300, "<command-name>/cost</command-name>", "<tick>", " ", "é “q”",
         "[Request interrupted by user]", "<local-command-stdout>o</local-command-stdout>", 'a \\ " b']
    )  # fmt: skip


def a_conversation(t, dice):
    """A tree of entries such as agents write, with notes between them."""
    entries = []
    for number in range(1, dice.randint(2, 14)):
        parent = None if number == 1 else dice.choice([number - 1] * 5 + [dice.randint(1, number - 1)])
        kind = dice.choice(["user", "user", "assistant", "assistant", "attachment", "progress", "system"])
        flags = {name: True for name in ("isMeta", "isSidechain", "isCompactSummary") if dice.random() < 0.08}
        if kind == "user":
            entries.append(
                t.user(number, parent, a_text(dice), gitBranch=dice.choice(["main", "fix"]), **flags)
            )
        elif kind == "assistant":
            message_id = f"m{number // 2}" if dice.random() < 0.5 else f"n{number}"
            entries.append(t.assistant(number, parent, a_text(dice), message_id=message_id, **flags))
        else:
            entries.append(t.note(number, parent, kind, sessionId=t.session))
        if dice.random() < 0.2:
            entries.append(a_note(t, dice))
    return entries


def a_note(t, dice):
    name, field = dice.choice(
        [("custom-title", "customTitle"), ("ai-title", "aiTitle"), ("last-prompt", "lastPrompt"),
         ("summary", "summary"), ("tag", "tag"), ("mode", "mode")]
    )  # fmt: skip
    return {"type": name, field: dice.choice(["one", "two", ""]), "sessionId": t.session}


@pytest.mark.feature("SESS-12")
def test_conversations_of_every_shape_read_the_same(transcripts, same):
    directory = str(transcripts.project)
    calls = []
    for seed in range(150):
        session = transcripts.id(seed)
        transcripts.write(
            *a_conversation(transcripts, random.Random(seed)), session=session, mtime=1_700_000_000 + seed
        )
        calls += [
            ("get_session_info", {"session_id": session, "directory": directory}),
            ("get_session_messages", {"session_id": session, "directory": directory}),
        ]

    same(("list_sessions", {"directory": directory}), ("list_sessions", {"limit": 7, "offset": 3}), *calls)


@pytest.mark.feature("STORE-05")
def test_summaries_and_lists_of_stores_are_the_same(transcripts, official):
    key = {"project_key": project_key_for_directory(transcripts.project), "session_id": transcripts.session}
    conversations = [a_conversation(transcripts, random.Random(seed)) for seed in range(60)]

    theirs = official(
        *(
            ("fold_session_summary", {"prev": None, "key": key, "entries": entries})
            for entries in conversations
        )
    )

    for entries, their in zip(conversations, theirs, strict=True):
        assert fold_session_summary(None, key, entries) == their["result"]


@pytest.mark.feature("STORE-05")
@pytest.mark.anyio
async def test_sessions_in_stores_read_the_same(transcripts, official):
    directory = str(transcripts.project)
    key = {"project_key": project_key_for_directory(directory), "session_id": transcripts.session}
    sub = {**key, "subpath": "subagents/agent-a1"}
    for seed in range(4):
        rows = [
            [key, a_conversation(transcripts, random.Random(seed))],
            [sub, [transcripts.user(1), transcripts.assistant(2, 1)]],
            [sub, [{"type": "agent_metadata", "toolUseId": "t", "parentAgentId": "p"}]],
        ]
        store = InMemorySessionStore()
        for each, entries in rows:
            await store.append(each, entries)
        where = {"session_store": rows, "session_id": transcripts.session, "directory": directory}
        calls = [
            ("get_session_messages_from_store", where),
            ("list_subagents_from_store", where),
            ("get_subagent_messages_from_store", {**where, "agent_id": "a1"}),
            ("list_sessions_from_store", {"session_store": rows, "directory": directory}),
        ]
        for (name, arguments), their in zip(calls, official(*calls), strict=True):
            result = await getattr(claude_wrapper, name)(**{**arguments, "session_store": store})
            plain = [dataclasses.asdict(r) if dataclasses.is_dataclass(r) else r for r in result]
            for row in [*plain, *their["result"]]:
                if isinstance(row, dict):
                    row.pop("last_modified", None)
            assert plain == their["result"], (seed, name)


# -- Claude Code and our session store


@pytest.mark.feature("STORE-02", "STORE-04")
@pytest.mark.anyio
async def test_claude_code_goes_on_from_a_store_where_its_own_files_are_gone(transcripts, claude, tmp_path):
    store = InMemorySessionStore()
    (transcripts.project / "a.txt").write_text("alpha\n")
    read = {"file_path": str(transcripts.project / "a.txt")}
    script = [call("Bash", command="echo hi") + call("Read", read), say("Stored."), say("Went on.")]

    async def run(model, prompt, **options):
        with anyio.fail_after(LIMIT):
            return [
                message
                async for message in query(
                    prompt=prompt,
                    options=ClaudeAgentOptions(
                        cli_path=claude.executable,
                        cwd=transcripts.project,
                        env={"HOME": str(tmp_path), **model.environment()},
                        session_store=store,
                        allowed_tools=["Bash", "Read"],
                        model="claude-sonnet-4-5",
                        **options,
                    ),
                )
            ]

    key = {"project_key": project_key_for_directory(transcripts.project), "session_id": transcripts.session}
    with ScriptedModel(script) as model:
        first = await run(model, "One", session_id=transcripts.session)
        on_disk = transcripts.read()
        in_store = await store.load(key)
        shutil.rmtree(transcripts.config)
        second = await run(model, "Two", resume=transcripts.session)
        asked = str(model.requests[-1].messages)

    kept = {entry["uuid"] for entry in on_disk if "uuid" in entry}
    assert {entry["uuid"] for entry in in_store if "uuid" in entry} == kept
    assert all(text in asked for text in ("One", "echo hi", "Stored.", "Two"))
    results = [message for message in first + second if isinstance(message, ResultMessage)]
    assert {result.session_id for result in results} == {transcripts.session}
    assert not [message for message in first + second if isinstance(message, MirrorErrorMessage)]
    assert len(await store.load(key)) > len(in_store)
    assert list_sessions() == []
