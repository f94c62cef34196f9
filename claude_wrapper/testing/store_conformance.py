"""Checks that a session store keeps what it promises, whatever it keeps it in."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio

from claude_wrapper.messages import SessionKey
from claude_wrapper.session_store import SessionStore, SessionStoreEntry, fold_session_summary
from claude_wrapper.store.methods import implements
from claude_wrapper.wire.ids import new_uuid

__all__ = ["run_session_store_conformance"]

_OPTIONAL = frozenset({"list_sessions", "list_session_summaries", "delete", "list_subkeys"})
_SECONDS = 60.0
"""How long one check may take."""

T = TypeVar("T")


async def run_session_store_conformance(
    make_store: Callable[[], SessionStore | Awaitable[SessionStore]],
    *,
    skip_optional: frozenset[str] = frozenset(),
) -> None:
    """Check a session store; raises AssertionError with what is wrong.

    `make_store` gives a store for each check; they may all keep things in one place, since every check
    has a project of its own. Optional methods are checked where the store has them, unless they are
    named in `skip_optional`.
    """
    unknown = skip_optional - _OPTIONAL
    if unknown:
        raise ValueError(f"no optional methods: {', '.join(sorted(unknown))}")
    for check, needed in _CHECKS:
        made = make_store()
        store = await made if inspect.isawaitable(made) else made
        if all(method not in skip_optional and implements(store, method) for method in needed):
            with anyio.fail_after(_SECONDS):
                await check(_Bench(store))


class _Bench:
    """A store, and a project in it that nobody else uses."""

    def __init__(self, store: SessionStore) -> None:
        self.store = store
        self.project = f"-conformance-{new_uuid()}"

    def key(self, session: str = "one", subpath: str | None = None, project: str | None = None) -> SessionKey:
        key: SessionKey = {"project_key": project or self.project, "session_id": session}
        if subpath is not None:
            key["subpath"] = subpath
        return key

    async def put(self, key: SessionKey, *marks: str) -> list[SessionStoreEntry]:
        """Append an entry for each mark, and return the entries as they were given."""
        entries = [_entry(mark) for mark in marks]
        given = copy.deepcopy(entries)
        await self.store.append(key, given)
        return entries

    async def expect(self, what: str, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        _expect(what, await self.store.load(key), entries)

    async def expect_nothing(self, what: str, key: SessionKey) -> None:
        loaded = await self.store.load(key)
        if loaded:
            raise AssertionError(f"{what}: expected None, got {loaded!r}")

    async def listed(self, project: str | None = None) -> list[str]:
        return sorted(row["session_id"] for row in await self.store.list_sessions(project or self.project))


def _entry(mark: str) -> SessionStoreEntry:
    content: Any = {
        "type": "user",
        "uuid": new_uuid(),
        "timestamp": "2026-01-02T03:04:05.678Z",
        "isSidechain": False,
        "parentUuid": None,
        "message": {"role": "user", "content": f"{mark} “é” \u2028 \U0001f600\n\t\\"},
        "numbers": [0, -1, 1.5, 2**53],
        "nested": {"": [], "null": None, "empty": {}},
    }
    entry: SessionStoreEntry = content
    return entry


def _expect(what: str, found: T, wanted: T) -> None:
    if found != wanted:
        raise AssertionError(f"{what}: expected {wanted!r}, got {found!r}")


# -- what every store does


async def _keeps_entries(bench: _Bench) -> None:
    entries = await bench.put(bench.key(), "a", "b")
    await bench.expect("load() gives back what append() was given", bench.key(), entries)
    await bench.expect("load() gives the same when it is called again", bench.key(), entries)


async def _keeps_order(bench: _Bench) -> None:
    entries = []
    for marks in (["z"], ["a", "c"], ["b"]):
        entries += await bench.put(bench.key(), *marks)
    await bench.expect(
        "entries of several append() calls come in the order of the calls", bench.key(), entries
    )


async def _knows_what_it_does_not_have(bench: _Bench) -> None:
    await bench.expect_nothing("load() of an unknown session", bench.key("unknown"))
    await bench.put(bench.key(), "a")
    await bench.expect_nothing("load() of an unknown subpath", bench.key(subpath="subagents/agent-unknown"))


async def _takes_nothing(bench: _Bench) -> None:
    entries = await bench.put(bench.key(), "a")
    await bench.store.append(bench.key(), [])
    await bench.expect("append() of no entries changes nothing", bench.key(), entries)


async def _keeps_subpaths_apart(bench: _Bench) -> None:
    keys = [bench.key(), bench.key(subpath="subagents/agent-1"), bench.key(subpath="subagents/deep/agent-1")]
    entries = [await bench.put(key, str(place)) for place, key in enumerate(keys)]
    for key, kept in zip(keys, entries, strict=True):
        await bench.expect(f"the transcript of {key.get('subpath', 'the session')} is its own", key, kept)


async def _keeps_projects_apart(bench: _Bench) -> None:
    other = f"{bench.project}-other"
    one = await bench.put(bench.key(), "one")
    two = await bench.put(bench.key(project=other), "two")
    await bench.expect("a session of one project is not that of another", bench.key(), one)
    await bench.expect("a session of one project is not that of another", bench.key(project=other), two)


async def _keeps_what_it_was_given(bench: _Bench) -> None:
    entries = [_entry("a")]
    kept = copy.deepcopy(entries)
    await bench.store.append(bench.key(), entries)
    entries.clear()
    await bench.expect("the caller may change its list after append()", bench.key(), kept)
    loaded = await bench.store.load(bench.key()) or []
    loaded.clear()
    await bench.expect("the caller may change the list that load() gave", bench.key(), kept)


async def _keeps_batches_together(bench: _Bench) -> None:
    entries = [[_entry(f"{batch}.{place}") for place in range(5)] for batch in range(8)]
    async with anyio.create_task_group() as tasks:
        for batch in entries:
            tasks.start_soon(bench.store.append, bench.key(), batch)
    loaded = await bench.store.load(bench.key()) or []
    batches = [loaded[start : start + 5] for start in range(0, len(loaded), 5)]
    for batch in entries:
        if batch not in batches:
            raise AssertionError("entries of append() calls at the same time are mixed, or lost")
    _expect("append() calls at the same time add each entry once", len(loaded), 40)


# -- what stores do that list and delete


async def _lists_sessions(bench: _Bench) -> None:
    await bench.put(bench.key("one"), "a")
    await bench.put(bench.key("two"), "b")
    await bench.put(bench.key("elsewhere", project=f"{bench.project}-other"), "c")
    await bench.put(bench.key("one", "subagents/agent-1"), "d")
    _expect("list_sessions() names each session of the project once", await bench.listed(), ["one", "two"])
    _expect("list_sessions() of an unknown project", await bench.listed("-unknown-" + new_uuid()), [])


async def _tells_times(bench: _Bench) -> None:
    await bench.put(bench.key("older"), "a")
    await anyio.sleep(0.02)
    await bench.put(bench.key("newer"), "b")
    times = {row["session_id"]: row["mtime"] for row in await bench.store.list_sessions(bench.project)}
    # Between 2001 and 2286, which seconds and microseconds are not.
    if not all(10**12 < mtime < 10**13 for mtime in times.values()):
        raise AssertionError(f"mtime is in milliseconds since 1970, got {times!r}")
    if times["older"] > times["newer"]:
        raise AssertionError("a session that changed later has no smaller mtime")


async def _keeps_summaries(bench: _Bench) -> None:
    entries = [*await bench.put(bench.key(), "first", "second"), *await bench.put(bench.key(), "third")]
    await bench.put(bench.key("elsewhere", project=f"{bench.project}-other"), "x")
    await bench.put(bench.key(subpath="subagents/agent-1"), "not part of it")
    summaries = await bench.store.list_session_summaries(bench.project)
    _expect(
        "list_session_summaries() has one for each session", [row["session_id"] for row in summaries], ["one"]
    )
    _expect(
        "a summary is what fold_session_summary() makes of the session's own entries",
        summaries[0]["data"],
        fold_session_summary(None, bench.key(), entries)["data"],
    )
    unknown = await bench.store.list_session_summaries("-unknown-" + new_uuid())
    _expect("list_session_summaries() of an unknown project", unknown, [])


async def _keeps_summaries_up_to_date(bench: _Bench) -> None:
    for mark in ("a", "b"):
        await bench.put(bench.key(), mark)
        (listed,) = await bench.store.list_sessions(bench.project)
        (summary,) = await bench.store.list_session_summaries(bench.project)
        if summary["mtime"] < listed["mtime"]:
            raise AssertionError("a summary has the mtime of its session, or it counts as out of date")


async def _forgets_summaries(bench: _Bench) -> None:
    await bench.put(bench.key(), "a")
    await bench.store.delete(bench.key())
    _expect("a deleted session has no summary", await bench.store.list_session_summaries(bench.project), [])


async def _deletes(bench: _Bench) -> None:
    await bench.store.delete(bench.key("unknown"))
    others = [bench.key("two"), bench.key(project=f"{bench.project}-other")]
    kept = [await bench.put(key, "kept") for key in others]
    gone = [bench.key(), bench.key(subpath="subagents/agent-1")]
    for key in gone:
        await bench.put(key, "gone")
    await bench.store.delete(bench.key())
    for key in gone:
        await bench.expect_nothing("a deleted session is gone, with its subagents", key)
    for key, entries in zip(others, kept, strict=True):
        await bench.expect("a deletion leaves other sessions and projects alone", key, entries)


async def _deletes_a_subpath(bench: _Bench) -> None:
    main = await bench.put(bench.key(), "main")
    other = await bench.put(bench.key(subpath="subagents/agent-2"), "other")
    await bench.put(bench.key(subpath="subagents/agent-1"), "gone")
    await bench.store.delete(bench.key(subpath="subagents/agent-1"))
    await bench.expect_nothing("a deleted subpath is gone", bench.key(subpath="subagents/agent-1"))
    await bench.expect("the session of a deleted subpath stays", bench.key(), main)
    await bench.expect("other subpaths stay", bench.key(subpath="subagents/agent-2"), other)


async def _unlists_what_is_deleted(bench: _Bench) -> None:
    await bench.put(bench.key("one"), "a")
    await bench.put(bench.key("two"), "b")
    await bench.store.delete(bench.key("one"))
    _expect("a deleted session is not listed", await bench.listed(), ["two"])


async def _lists_subkeys(bench: _Bench) -> None:
    subpaths = ["subagents/agent-1", "subagents/deep/agent-2"]
    await bench.put(bench.key(), "main")
    for subpath in subpaths:
        await bench.put(bench.key(subpath=subpath), "a")
    await bench.put(bench.key("two", "subagents/agent-3"), "b")
    await bench.put(bench.key(subpath="subagents/agent-4", project=f"{bench.project}-other"), "c")
    store, project = bench.store, bench.project
    listed = await store.list_subkeys({"project_key": project, "session_id": "one"})
    _expect("list_subkeys() names the subpaths of the session, not itself", sorted(listed), subpaths)
    unknown = await store.list_subkeys({"project_key": project, "session_id": "unknown"})
    _expect("list_subkeys() of an unknown session", unknown, [])


async def _unlists_deleted_subkeys(bench: _Bench) -> None:
    for subpath in ("subagents/agent-1", "subagents/agent-2"):
        await bench.put(bench.key(subpath=subpath), "a")
    await bench.store.delete(bench.key(subpath="subagents/agent-1"))
    listed = await bench.store.list_subkeys({"project_key": bench.project, "session_id": "one"})
    _expect("a deleted subpath is not listed", listed, ["subagents/agent-2"])


_CHECKS: list[tuple[Callable[[_Bench], Awaitable[None]], tuple[str, ...]]] = [
    (_keeps_entries, ()),
    (_keeps_order, ()),
    (_knows_what_it_does_not_have, ()),
    (_takes_nothing, ()),
    (_keeps_subpaths_apart, ()),
    (_keeps_projects_apart, ()),
    (_keeps_what_it_was_given, ()),
    (_keeps_batches_together, ()),
    (_lists_sessions, ("list_sessions",)),
    (_tells_times, ("list_sessions",)),
    (_keeps_summaries, ("list_session_summaries",)),
    (_keeps_summaries_up_to_date, ("list_sessions", "list_session_summaries")),
    (_forgets_summaries, ("list_session_summaries", "delete")),
    (_deletes, ("delete",)),
    (_deletes_a_subpath, ("delete",)),
    (_unlists_what_is_deleted, ("list_sessions", "delete")),
    (_lists_subkeys, ("list_subkeys",)),
    (_unlists_deleted_subkeys, ("list_subkeys", "delete")),
]
"""What is checked, and the optional methods that it needs."""
