"""Sessions in a session store: the store that comes along, and the functions that read and change any."""

import json

import anyio
import pytest

from claude_wrapper import (
    InMemorySessionStore,
    SessionStore,
    delete_session_via_store,
    fold_session_summary,
    fork_session,
    fork_session_via_store,
    get_session_info,
    get_session_info_from_store,
    get_session_messages,
    get_session_messages_from_store,
    get_subagent_messages,
    get_subagent_messages_from_store,
    import_session_to_store,
    list_sessions_from_store,
    list_subagents,
    list_subagents_from_store,
    project_key_for_directory,
    rename_session_via_store,
    tag_session_via_store,
)

pytestmark = pytest.mark.anyio

OTHER = "99999999-9999-4999-8999-999999999999"


class Minimal:
    """A store with no more than what is needed."""

    def __init__(self):
        self.kept = {}
        self.calls = []

    async def append(self, key, entries):
        self.calls.append(("append", key.get("subpath", ""), len(entries)))
        self.kept.setdefault(tuple(key.values()), []).extend(json.loads(json.dumps(entries)))

    async def load(self, key):
        self.calls.append(("load", key["session_id"][:2]))
        return self.kept.get(tuple(key.values()))


class Listing(Minimal):
    """A store that also lists sessions, with times of the test's choice."""

    def __init__(self, times):
        super().__init__()
        self.times = times

    async def list_sessions(self, project_key):
        return [{"session_id": session, "mtime": mtime} for session, mtime in self.times.items()]


class Summing(Listing):
    """A store that also keeps summaries."""

    summaries = ()

    async def list_session_summaries(self, project_key):
        return list(self.summaries)


@pytest.fixture
def key(transcripts):
    return {"project_key": project_key_for_directory(transcripts.project), "session_id": transcripts.session}


@pytest.fixture
def project(transcripts):
    return str(transcripts.project)


# -- the store in memory


@pytest.mark.feature("STORE-01")
async def test_the_store_in_memory_keeps_what_it_is_given(key):
    store = InMemorySessionStore()
    assert await store.load(key) is None

    await store.append(key, [{"type": "a"}])
    await store.append({**key, "subpath": "subagents/agent-1"}, [{"type": "s"}])
    await store.append(key, [{"type": "b"}, {"type": "c"}])

    assert [entry["type"] for entry in await store.load(key)] == ["a", "b", "c"]
    assert store.get_entries({**key, "subpath": "subagents/agent-1"}) == [{"type": "s"}]
    assert await store.list_subkeys(key) == ["subagents/agent-1"]
    assert [row["session_id"] for row in await store.list_sessions(key["project_key"])] == [key["session_id"]]
    assert await store.list_sessions("other") == []


async def test_what_is_loaded_is_not_the_stores_own_list(key):
    store = InMemorySessionStore()
    await store.append(key, [{"type": "a"}])
    (await store.load(key)).append("x")

    assert len(await store.load(key)) == 1


@pytest.mark.feature("STORE-01")
async def test_a_deleted_session_takes_its_subagents_along_but_not_the_other_way(key):
    store = InMemorySessionStore()
    for subpath in ("", "subagents/agent-1", "subagents/agent-2"):
        await store.append({**key, "subpath": subpath} if subpath else key, [{"type": "a"}])

    await store.delete({**key, "subpath": "subagents/agent-1"})
    assert await store.list_subkeys(key) == ["subagents/agent-2"]
    assert await store.load(key) is not None

    await store.delete(key)
    await store.delete(key)
    assert await store.load(key) is None
    assert await store.list_subkeys(key) == []
    assert await store.list_session_summaries(key["project_key"]) == []


async def test_every_change_has_a_later_time(key):
    store = InMemorySessionStore()
    times = []
    for _ in range(5):
        await store.append(key, [{"type": "a"}])
        times.append((await store.list_sessions(key["project_key"]))[0]["mtime"])

    assert times == sorted(set(times))
    store.clear()
    assert await store.list_sessions(key["project_key"]) == []


@pytest.mark.feature("STORE-01")
async def test_methods_that_a_store_leaves_out_are_not_there(transcripts, project):
    class Own(SessionStore):
        async def append(self, key, entries): ...

        async def load(self, key):
            return [transcripts.user(1)]

    store = Own()
    for call in (
        store.list_sessions("p"),
        store.list_session_summaries("p"),
        store.delete({}),
        store.list_subkeys({}),
    ):
        with pytest.raises(NotImplementedError):
            await call
    with pytest.raises(ValueError, match="neither list_sessions"):
        await list_sessions_from_store(store, project)
    with pytest.raises(ValueError, match="has no list_subkeys"):
        await list_subagents_from_store(store, transcripts.session, project)
    await delete_session_via_store(store, transcripts.session, project)
    assert len(await get_subagent_messages_from_store(store, transcripts.session, "a1", project)) == 1


# -- summaries


@pytest.mark.feature("STORE-05")
def test_a_summary_is_the_same_in_one_go_and_bit_by_bit(transcripts, key):
    t = transcripts
    entries = [
        t.user(1, content="<command-name>/x</command-name>"),
        t.user(2, 1, "first"),
        {"type": "tag", "tag": "t"},
        t.assistant(3, 2, gitBranch="b"),
        {"type": "custom-title", "customTitle": "T"},
        {"type": "tag", "tag": ""},
    ]
    whole = fold_session_summary(None, key, entries)
    summary = None
    for entry in entries:
        before = json.dumps(summary)
        summary, old = fold_session_summary(summary, key, [entry]), summary
        assert json.dumps(old) == before

    assert summary == whole
    assert json.loads(json.dumps(summary)) == summary
    assert summary["data"] == {
        "is_sidechain": False,
        "created_at": 1_767_323_041_500,
        "cwd": str(t.project),
        "first_prompt": "first",
        "first_prompt_locked": True,
        "command_fallback": "/x",
        "git_branch": "b",
        "custom_title": "T",
    }


@pytest.mark.parametrize("data", [{}, {"first_prompt": 5}, {"of others": [1]}, {"created_at": "x"}])
def test_a_summary_of_others_is_gone_on_with(data, transcripts, key):
    old = {"session_id": transcripts.session, "mtime": 7, "data": data}

    new = fold_session_summary(old, key, [transcripts.user(1)])

    assert new["mtime"] == 7
    assert new["data"]["first_prompt"] == "hi"
    assert new["data"].get("of others") == data.get("of others")


# -- reading


@pytest.fixture
async def imported(transcripts, project):
    """A session on the disk, and the same in a store."""
    t = transcripts
    t.write(
        t.user(1),
        t.call(2, 1, "a"),
        t.call(3, 2, "b"),
        t.tool_result(4, 2, "a"),
        t.tool_result(5, 3, "b"),
        t.assistant(6, 5),
        {"type": "tag", "tag": "kept", "sessionId": t.session},
    )
    own = {"isSidechain": True, "agentId": "a1"}
    t.write_subagent("a1", t.user(7, **own), t.assistant(8, 7, **own), metadata='{"toolUseId": "a"}')
    t.write_subagent("b2", t.user(9, **own), below="subagents/deep")
    store = InMemorySessionStore()
    await import_session_to_store(t.session, store, directory=project)
    return store


@pytest.mark.feature("STORE-05")
async def test_a_session_reads_the_same_from_disk_and_store(imported, transcripts, project):
    session = transcripts.session
    on_disk = get_session_info(session, project)
    in_store = await get_session_info_from_store(imported, session, project)
    (listed,) = await list_sessions_from_store(imported, project)

    assert in_store.file_size == on_disk.file_size
    for other in (in_store, listed):
        other.last_modified, other.file_size = on_disk.last_modified, on_disk.file_size
        assert other == on_disk
    assert await get_session_messages_from_store(imported, session, project) == get_session_messages(session)
    assert (
        await list_subagents_from_store(imported, session, project) == list_subagents(session) == ["a1", "b2"]
    )
    for agent in ("a1", "b2"):
        messages = await get_subagent_messages_from_store(imported, session, agent, project)
        assert messages == get_subagent_messages(session, agent)
    page = {"limit": 2, "offset": 1}
    assert await get_session_messages_from_store(imported, session, project, **page) == (
        get_session_messages(session, project, **page)
    )


async def test_a_loaded_session_was_changed_when_its_last_entry_was_written(transcripts, project, key):
    store = Minimal()
    await store.append(key, [transcripts.user(1), transcripts.assistant(5, 1), {"type": "tag", "tag": "t"}])

    info = await get_session_info_from_store(store, transcripts.session, project)

    assert info.last_modified == 1_767_323_045_500


async def test_what_is_not_in_a_store_is_not_found(project):
    store = InMemorySessionStore()

    for session in (OTHER, "x"):
        assert await get_session_info_from_store(store, session, project) is None
        assert await get_session_messages_from_store(store, session, project) == []
        assert await list_subagents_from_store(store, session, project) == []
        assert await get_subagent_messages_from_store(store, session, "a1", project) == []
    assert await list_sessions_from_store(store, project) == []


async def test_an_entry_that_is_none_is_passed_over(transcripts, project, key, numbers):
    store = Minimal()
    odd = [None, 5, [], {}, {"type": 7, "uuid": []}, "text"]
    await store.append(key, [odd[0], transcripts.user(1), *odd, transcripts.assistant(2, 1)])

    messages = await get_session_messages_from_store(store, transcripts.session, project)

    assert numbers(messages) == [1, 2]


# -- lists


def sessions(**times):
    return {f"{name * 2}111111-1111-4111-8111-111111111111": mtime for name, mtime in times.items()}


async def fill(store, key, transcripts, spoken="abc"):
    for session in store.times:
        entries = [transcripts.user(1, content=session[0])] if session[0] in spoken else [{"type": "mode"}]
        await store.append({**key, "session_id": session}, entries)
    store.calls.clear()


def names(infos):
    return [info.session_id[0] for info in infos]


async def test_without_summaries_sessions_are_loaded_newest_first(transcripts, project, key):
    store = Listing(sessions(a=10, b=30, c=20))
    await fill(store, key, transcripts)

    infos = await list_sessions_from_store(store, project)

    assert [(info.session_id[0], info.summary, info.last_modified) for info in infos] == [
        ("b", "b", 30),
        ("c", "c", 20),
        ("a", "a", 10),
    ]


async def test_a_page_loads_no_more_than_it_shows(transcripts, project, key):
    store = Listing(sessions(a=10, b=30, c=20))
    await fill(store, key, transcripts)

    assert names(await list_sessions_from_store(store, project, limit=1, offset=1)) == ["c"]
    assert sorted(store.calls) == [("load", "bb"), ("load", "cc")]


async def test_a_page_counts_only_sessions_that_are_shown(transcripts, project, key):
    store = Listing(sessions(a=10, b=30, c=20))
    await fill(store, key, transcripts, spoken="ac")

    assert names(await list_sessions_from_store(store, project, limit=2)) == ["c", "a"]


@pytest.mark.feature("STORE-05")
async def test_summaries_that_are_up_to_date_save_loading(transcripts, project, key):
    store = Summing(sessions(a=10, b=30, c=20))
    await fill(store, key, transcripts)
    store.summaries = [
        {
            **fold_session_summary(None, {**key, "session_id": session}, [transcripts.user(1, content=text)]),
            "mtime": m,
        }
        for (session, _), text, m in zip(
            store.times.items(), ["new", "stale", "extra"], [11, 29, 20], strict=True
        )
    ]
    del store.summaries[2]

    infos = await list_sessions_from_store(store, project)

    assert [(info.session_id[0], info.summary, info.last_modified) for info in infos] == [
        ("b", "b", 30),
        ("c", "c", 20),
        ("a", "new", 11),
    ]
    assert sorted(store.calls) == [("load", "bb"), ("load", "cc")]


async def test_summaries_alone_make_a_list(transcripts, project, key):
    class Only(Minimal):
        async def list_session_summaries(self, project_key):
            return [{**fold_session_summary(None, key, [transcripts.user(1)]), "mtime": 3}]

    assert [info.summary for info in await list_sessions_from_store(Only(), project)] == ["hi"]


async def test_a_session_that_cannot_be_loaded_stays_in_the_list(transcripts, project, key, caplog):
    class Failing(Listing):
        async def load(self, key):
            if key["session_id"].startswith("b"):
                raise LookupError("gone")
            return await super().load(key)

    store = Failing(sessions(a=10, b=30))
    await fill(store, key, transcripts)

    infos = await list_sessions_from_store(store, project)

    assert [(info.session_id[0], info.summary) for info in infos] == [("b", ""), ("a", "a")]
    assert "gone" in caplog.text


async def test_sessions_are_loaded_side_by_side_but_not_all_at_once(transcripts, project, key):
    class Slow(Listing):
        loading = most = 0

        async def load(self, key):
            self.loading += 1
            self.most = max(self.most, self.loading)
            for _ in range(3):
                await anyio.lowlevel.checkpoint()
            self.loading -= 1
            return await super().load(key)

    store = Slow({transcripts.id(number): number for number in range(40)})
    for session in store.times:
        await store.append({**key, "session_id": session}, [transcripts.user(1)])

    assert len(await list_sessions_from_store(store, project)) == 40
    assert 1 < store.most <= 16


# -- changing


@pytest.mark.feature("SESS-13")
async def test_changes_are_appended(transcripts, project, key):
    store = Minimal()
    await store.append(key, [transcripts.user(1)])

    await rename_session_via_store(store, transcripts.session, " New ", project)
    await tag_session_via_store(store, transcripts.session, "t", project)
    renamed = await get_session_info_from_store(store, transcripts.session, project)
    await tag_session_via_store(store, transcripts.session, None, project)
    untagged = await get_session_info_from_store(store, transcripts.session, project)

    assert (renamed.custom_title, renamed.tag, untagged.tag) == ("New", "t", None)
    _, title, *_ = await store.load(key)
    assert (
        title.items()
        >= {"type": "custom-title", "customTitle": "New", "sessionId": transcripts.session}.items()
    )
    assert {"uuid", "timestamp"} <= title.keys()


async def test_a_fork_in_a_store_is_the_same_as_on_disk(imported, transcripts, project, key):
    on_disk = fork_session(transcripts.session, project, transcripts.id(3))
    in_store = await fork_session_via_store(imported, transcripts.session, project, transcripts.id(3))

    one = transcripts.read(on_disk.session_id)
    two = await imported.load({**key, "session_id": in_store.session_id})
    chain = [
        [[e["uuid"] for e in entries].index(e["parentUuid"]) for e in entries[1:-1]] for entries in (one, two)
    ]
    assert chain == [[0, 1]] * 2
    for entries in (one, two):
        assert {entry.pop("sessionId") for entry in entries} <= {on_disk.session_id, in_store.session_id}
        for entry in entries:
            del entry["uuid"], entry["timestamp"]
            entry.pop("parentUuid", None)
    assert one == two
    assert (await imported.load(key))[0] == transcripts.read()[0]


async def test_a_deleted_session_is_gone_from_the_store(imported, transcripts, project):
    await delete_session_via_store(imported, transcripts.session, project)

    assert await get_session_info_from_store(imported, transcripts.session, project) is None
    assert await list_subagents_from_store(imported, transcripts.session, project) == []


async def test_changes_check_what_they_are_given(imported, transcripts, project):
    session = transcripts.session
    for call in (
        rename_session_via_store(imported, "x", "t", project),
        tag_session_via_store(imported, "x", "t", project),
        delete_session_via_store(imported, "x", project),
        fork_session_via_store(imported, "x", project),
        import_session_to_store("x", imported, directory=project),
    ):
        with pytest.raises(ValueError, match="Invalid session_id: x"):
            await call
    with pytest.raises(ValueError, match="title must be non-empty"):
        await rename_session_via_store(imported, session, " ", project)
    with pytest.raises(ValueError, match="tag must be non-empty"):
        await tag_session_via_store(imported, session, "\u200b", project)
    with pytest.raises(ValueError, match="Invalid up_to_message_id"):
        await fork_session_via_store(imported, session, project, "x")
    with pytest.raises(ValueError, match="not found in session"):
        await fork_session_via_store(imported, session, project, OTHER)
    with pytest.raises(ValueError, match="has no messages to fork"):
        await fork_session_via_store(imported, OTHER, project)


# -- bringing sessions into a store


@pytest.mark.feature("STORE-05")
async def test_an_import_comes_in_batches_with_subagents_and_what_is_beside_them(transcripts, project, key):
    t = transcripts
    t.write(*(t.user(n) for n in range(5)), b"junk\n")
    t.write_subagent("a1", t.user(7), metadata='{"toolUseId": "x", "type": "of the file"}')
    store = Minimal()

    await import_session_to_store(t.session, store, directory=project, batch_size=2)

    assert store.calls == [
        ("append", "", 2),
        ("append", "", 2),
        ("append", "", 1),
        ("append", "subagents/agent-a1", 1),
        ("append", "subagents/agent-a1", 1),
    ]
    assert await store.load(key) == [t.user(n) for n in range(5)]
    assert (await store.load({**key, "subpath": "subagents/agent-a1"}))[1] == {
        "toolUseId": "x",
        "type": "agent_metadata",
    }


async def test_an_import_can_leave_out_subagents_and_needs_a_session(transcripts, project):
    transcripts.write(transcripts.user(1))
    transcripts.write_subagent("a1", transcripts.user(2))
    store = Minimal()
    await import_session_to_store(transcripts.session, store, include_subagents=False, batch_size=0)

    assert store.calls == [("append", "", 1)]
    with pytest.raises(FileNotFoundError, match=f"Session {OTHER} not found"):
        await import_session_to_store(OTHER, store, directory=project)
