"""The checks of session stores: good ones pass, and each fault is found."""

import copy

import pytest

from claude_wrapper import InMemorySessionStore
from claude_wrapper.testing import run_session_store_conformance

pytestmark = [pytest.mark.anyio, pytest.mark.feature("STORE-05")]


async def test_the_store_in_memory_passes():
    await run_session_store_conformance(InMemorySessionStore)


async def test_stores_may_keep_everything_in_one_place_and_take_their_time():
    store = InMemorySessionStore()

    async def make():
        return store

    await run_session_store_conformance(make)
    await run_session_store_conformance(make)


class Minimal:
    """A store without optional methods."""

    def __init__(self):
        self.kept = {}

    async def append(self, key, entries):
        self.kept.setdefault(tuple(key.values()), []).extend(entries)

    async def load(self, key):
        found = self.kept.get(tuple(key.values()))
        return None if found is None else list(found)


async def test_a_store_without_optional_methods_passes():
    await run_session_store_conformance(Minimal)


async def reversed_entries(self, key, entries):
    await InMemorySessionStore.append(self, key, entries[::-1])


async def replaced(self, key, entries):
    if entries:
        await InMemorySessionStore.delete(self, key)
    await InMemorySessionStore.append(self, key, entries)


async def without_subpath(self, key, entries):
    await InMemorySessionStore.append(self, {**key, "subpath": ""}, entries)


async def in_one_project(self, key, entries):
    await InMemorySessionStore.append(self, {**key, "project_key": "one"}, entries)


async def load_from_one_project(self, key):
    return await InMemorySessionStore.load(self, {**key, "project_key": "one"})


async def its_own_list(self, key):
    return self._transcripts.get((key["project_key"], key["session_id"], key.get("subpath") or ""))


async def ascii_only(self, key, entries):
    entries = copy.deepcopy(entries)
    for entry in entries:
        entry["message"]["content"] = entry["message"]["content"].encode("ascii", "replace").decode()
    await InMemorySessionStore.append(self, key, entries)


async def in_seconds(self, project_key):
    rows = await InMemorySessionStore.list_sessions(self, project_key)
    return [{**row, "mtime": row["mtime"] // 1000} for row in rows]


async def of_all_projects(self, _):
    return [{"session_id": session, "mtime": 10**12 + 1} for _, session in self._summaries]


async def old_summaries(self, project_key):
    rows = await InMemorySessionStore.list_session_summaries(self, project_key)
    return [{**row, "mtime": row["mtime"] - 1} for row in rows]


async def empty_summaries(self, project_key):
    rows = await InMemorySessionStore.list_session_summaries(self, project_key)
    return [{**row, "data": {}} for row in rows]


async def nothing(*_):
    return []


async def only_the_session(self, key):
    self._transcripts.pop((key["project_key"], key["session_id"], key.get("subpath") or ""), None)
    if not key.get("subpath"):
        self._summaries.pop((key["project_key"], key["session_id"]), None)


async def everything(self, _):
    self.clear()


async def with_itself(self, key):
    return [*await InMemorySessionStore.list_subkeys(self, key), ""]


FAULTS = [
    ("append", reversed_entries, "gives back what append"),
    ("append", replaced, "order of the calls"),
    ("append", without_subpath, "unknown subpath|is its own"),
    ("append", in_one_project, "gives back what append"),
    ("append", ascii_only, "gives back what append"),
    ("load", its_own_list, "may change the list that load"),
    ("list_sessions", in_seconds, "milliseconds"),
    ("list_sessions", of_all_projects, "each session of the project once"),
    ("list_sessions", nothing, "each session of the project once"),
    ("list_session_summaries", old_summaries, "out of date"),
    ("list_session_summaries", empty_summaries, "fold_session_summary"),
    ("delete", nothing, "no summary|is gone"),
    ("delete", only_the_session, "with its subagents"),
    ("delete", everything, "leaves other sessions"),
    ("list_subkeys", with_itself, "not itself"),
    ("list_subkeys", nothing, "names the subpaths"),
]


@pytest.mark.parametrize(
    ("method", "fault", "message"), FAULTS, ids=[f"{method}-{fault.__name__}" for method, fault, _ in FAULTS]
)
async def test_a_fault_is_found(method, fault, message):
    faulty = type("Faulty", (InMemorySessionStore,), {method: fault})

    with pytest.raises(AssertionError, match=message):
        await run_session_store_conformance(faulty)


async def test_projects_that_are_mixed_are_found():
    members = {"append": in_one_project, "load": load_from_one_project}
    mixed = type("Mixed", (InMemorySessionStore,), members)

    with pytest.raises(AssertionError, match="not that of another"):
        await run_session_store_conformance(mixed)


@pytest.mark.parametrize("method", ["list_sessions", "list_session_summaries", "delete", "list_subkeys"])
async def test_an_optional_method_can_be_left_out(method):
    async def broken(*_):
        raise LookupError("broken")

    store = type("Broken", (InMemorySessionStore,), {method: broken})

    with pytest.raises(LookupError):
        await run_session_store_conformance(store)
    await run_session_store_conformance(store, skip_optional=frozenset({method}))


async def test_only_optional_methods_can_be_left_out():
    with pytest.raises(ValueError, match="no optional methods: append"):
        await run_session_store_conformance(InMemorySessionStore, skip_optional=frozenset({"append"}))
