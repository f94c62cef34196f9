"""Copying transcripts to a session store while an agent writes them."""

import logging
import tracemalloc

import anyio
import pytest

from claude_wrapper import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    InMemorySessionStore,
    MirrorErrorMessage,
    ProcessError,
    ResultMessage,
    query,
)
from claude_wrapper.conversation import mirror

pytestmark = pytest.mark.anyio

ID = "11111111-1111-4111-8111-111111111111"


@pytest.fixture
def mirrored(tmp_path, monkeypatch):
    """A frame that mirrors entries, named by numbers."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))

    def mirrored(*numbers, to=f"-p/{ID}.jsonl"):
        entries = [{"type": "x", "n": number} for number in numbers]
        path = to if to.startswith("/") else str(tmp_path / "config" / "projects" / to)
        return {"type": "transcript_mirror", "filePath": path, "entries": entries}

    return mirrored


class Recorder:
    """A store that notes what is appended, beside what the user is given."""

    def __init__(self, failures=()):
        self.events = []
        self.failures = list(failures)
        self.counts = {}

    async def append(self, key, entries):
        self.events.append([entry["n"] for entry in entries])
        if len(self.appended) in self.counts:
            self.counts[len(self.appended)].release()
        if self.failures:
            failure = self.failures.pop(0)
            if failure is not None:
                raise failure

    async def load(self, key):
        return None

    @property
    def appended(self):
        return [event for event in self.events if isinstance(event, list)]

    @property
    def until_result(self):
        """What happened until the result was given, beside other messages."""
        events = self.events[: self.events.index("ResultMessage") + 1]
        return [event for event in events if event not in ("SystemMessage", "AssistantMessage")]

    async def run(self, agent, **options):
        """All messages of a run; their classes are noted as they come."""
        messages = []
        with anyio.fail_after(30):
            async for message in query(
                prompt="go",
                options=ClaudeAgentOptions(cli_path=agent.path, session_store=self, **options),
            ):
                messages.append(message)
                self.events.append(type(message).__name__)
        return messages


@pytest.mark.feature("STORE-02")
async def test_entries_are_in_the_store_before_the_result_is_given(agent, mirrored):
    store = Recorder()
    agent.begin().emit(mirrored(1)).say("hi").emit(mirrored(2, 3)).result()

    await store.run(agent)

    assert store.until_result == [[1, 2, 3], "ResultMessage"]
    assert "--session-mirror" in agent.runs[0].argv


@pytest.mark.feature("STORE-02")
async def test_entries_behind_the_result_are_in_the_store_when_the_run_ends(agent, mirrored):
    store = Recorder()
    agent.begin().emit(mirrored(1)).result().emit(mirrored(2)).say("more").emit(mirrored(3))

    await store.run(agent)

    assert store.until_result[0] == [1]
    assert store.appended == [[1], [2, 3]]


@pytest.mark.feature("STORE-02")
async def test_eager_appends_do_not_wait_for_the_result(agent, mirrored):
    store = Recorder()
    agent.begin().emit(mirrored(1)).stall("first").say("hi").emit(mirrored(2)).stall("second").result()
    store.counts = {1: agent.gate("first"), 2: agent.gate("second")}

    await store.run(agent, session_store_flush="eager")

    assert store.appended == [[1], [2]]


@pytest.mark.feature("STORE-02")
async def test_much_is_not_held_back_until_the_result(agent, mirrored):
    store = Recorder()
    large = {**mirrored(1001), "entries": [{"type": "x", "n": 1001, "text": "x" * 1024 * 1024}]}
    agent.begin().emit(mirrored(1), times=501).stall("entries").emit(large).stall("bytes").result()
    store.counts = {1: agent.gate("entries"), 2: agent.gate("bytes")}

    await store.run(agent)

    assert store.appended == [[1] * 501, [1001]]


@pytest.mark.feature("STORE-01")
async def test_each_transcript_has_its_key(agent, mirrored):
    store = InMemorySessionStore()
    sub = f"-p/{ID}/subagents/agent-a1.jsonl"
    agent.begin().emit(mirrored(1), mirrored(2, to=sub), mirrored(3), mirrored(4, to=sub)).result()

    await Recorder.run(Keeping(store), agent)

    key = {"project_key": "-p", "session_id": ID}
    assert [entry["n"] for entry in await store.load(key)] == [1, 3]
    assert [entry["n"] for entry in await store.load({**key, "subpath": "subagents/agent-a1"})] == [2, 4]


class Keeping(Recorder):
    """A recorder that keeps what it notes."""

    def __init__(self, store):
        super().__init__()
        self.append = store.append


@pytest.mark.feature("STORE-03")
async def test_a_failed_append_is_tried_again(agent, mirrored):
    store = Recorder([LookupError("once"), LookupError("twice")])
    agent.begin().emit(mirrored(1)).result()

    await store.run(agent)

    assert store.until_result == [[1], [1], [1], "ResultMessage"]


@pytest.mark.feature("STORE-03")
async def test_an_append_that_fails_for_good_is_told_before_the_result(agent, mirrored, caplog):
    store = Recorder([LookupError("no"), LookupError("no"), LookupError("no way"), None])
    agent.begin().emit(mirrored(1)).result().emit(mirrored(2))

    messages = await store.run(agent)

    (told,) = [message for message in messages if isinstance(message, MirrorErrorMessage)]
    key = {"project_key": "-p", "session_id": ID}
    assert (told.key, told.error, told.subtype) == (key, "no way", "mirror_error")
    assert (
        told.data.items()
        >= {"type": "system", "subtype": "mirror_error", "error": "no way", "key": key}.items()
    )
    assert [event for event in store.until_result if event != [2]] == [
        *([1],) * 3,
        "MirrorErrorMessage",
        "ResultMessage",
    ]
    assert store.appended[-1] == [2]
    assert "no way" in caplog.text


@pytest.mark.feature("STORE-03")
async def test_an_append_that_times_out_is_not_tried_again(agent, mirrored):
    store = Recorder([TimeoutError("too slow")])
    agent.begin().emit(mirrored(1)).result()

    messages = await store.run(agent)

    assert store.until_result == [[1], "MirrorErrorMessage", "ResultMessage"]
    assert messages[1].error == "too slow"


class Hanging(Recorder):
    """A store whose appends do not end."""

    async def append(self, key, entries):
        await super().append(key, entries)
        await anyio.sleep_forever()


@pytest.mark.feature("STORE-03")
async def test_an_append_that_does_not_end_is_given_up(agent, mirrored, monkeypatch):
    monkeypatch.setattr(mirror, "_APPEND_SECONDS", 0.2)
    store = Hanging()
    agent.begin().emit(mirrored(1)).say("hi").result()

    await store.run(agent)

    assert store.until_result == [[1], "MirrorErrorMessage", "ResultMessage"]


async def test_a_store_that_hangs_holds_back_neither_messages_nor_requests(agent, mirrored):
    store = Hanging()
    agent.begin().emit(mirrored(1)).say("one").result().say("two").wait("interrupt").wait("eof")

    with anyio.fail_after(40):
        client = ClaudeSDKClient(ClaudeAgentOptions(cli_path=agent.path, session_store=store))
        await client.connect("go")
        messages = client.receive_messages()
        assert type(await anext(messages)).__name__ == "SystemMessage"
        assert isinstance(await anext(messages), AssistantMessage)
        await client.interrupt()
        with anyio.move_on_after(0.1) as waiting:
            await anext(messages)
        assert waiting.cancelled_caught
        await messages.aclose()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mirror, "_CLOSE_SECONDS", 0.2)
        with anyio.fail_after(40):
            await client.disconnect()
    agent.runs[0].wait_gone()


class Gated(Recorder):
    """A store that takes nothing until it is opened."""

    def __init__(self):
        super().__init__()
        self.open = anyio.Event()

    async def append(self, key, entries):
        await self.open.wait()
        self.events.append([entry["n"] for entry in entries])


def large(mirrored, number):
    frame = mirrored(number)
    frame["entries"][0]["text"] = "x" * 100_000
    return frame


@pytest.mark.feature("STORE-02")
async def test_what_waits_for_a_slow_store_takes_no_more_memory_than_a_bound_and_is_kept(
    agent, mirrored, monkeypatch
):
    monkeypatch.setattr(mirror, "_WAITING_BYTES", 500_000)
    store = Gated()
    frames = [large(mirrored, number) for number in range(300)]
    agent.begin().emit(*frames).say("waited").result().wait("eof")

    with anyio.fail_after(30):
        options = ClaudeAgentOptions(cli_path=agent.path, session_store=store, session_store_flush="eager")
        tracemalloc.start()
        async with ClaudeSDKClient(options) as client:
            await client.query("go")
            messages = client.receive_messages()
            while not isinstance(await anext(messages), AssistantMessage):
                pass
            held, _ = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            store.open.set()
            assert isinstance(await anext(messages), ResultMessage)
            assert [number for numbers in store.appended for number in numbers] == list(range(300))
    # 30 MB have come; beside what waits there is the batch that is being written and what is read at once.
    assert held < 8_000_000, f"{held:,} bytes"


async def test_what_waits_on_disk_when_the_conversation_is_closed_is_told(agent, mirrored, monkeypatch):
    monkeypatch.setattr(mirror, "_WAITING_BYTES", 1000)
    monkeypatch.setattr(mirror, "_CLOSE_SECONDS", 0.1)
    store = Gated()
    agent.begin().emit(*[large(mirrored, number) for number in range(5)]).say("waited").wait("eof")

    with anyio.fail_after(30):
        options = ClaudeAgentOptions(cli_path=agent.path, session_store=store, session_store_flush="eager")
        async with ClaudeSDKClient(options) as client:
            await client.query("go")
            messages = client.receive_messages()
            while not isinstance(await anext(messages), AssistantMessage):
                pass
        errors = [message async for message in messages]

    assert {type(error) for error in errors} == {MirrorErrorMessage}
    assert len(errors) == 5


async def test_a_disk_that_takes_nothing_costs_what_would_have_waited_there(agent, mirrored, monkeypatch):
    def full(_spill, _batch):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(mirror, "_WAITING_BYTES", 1000)
    monkeypatch.setattr(mirror.Spill, "put", full)
    store = Gated()
    agent.begin().emit(*[large(mirrored, number) for number in range(3)]).say("waited").result().wait("eof")

    with anyio.fail_after(30):
        options = ClaudeAgentOptions(cli_path=agent.path, session_store=store, session_store_flush="eager")
        async with ClaudeSDKClient(options) as client:
            await client.query("go")
            messages = client.receive_messages()
            while not isinstance(await anext(messages), AssistantMessage):
                pass
            store.open.set()
            told = [await anext(messages) for _ in range(3)]

    assert [type(message) for message in told] == [MirrorErrorMessage, MirrorErrorMessage, ResultMessage]
    assert "No space left" in told[0].error
    assert store.appended == [[0]]


async def test_what_was_mirrored_when_the_client_leaves_is_still_written(agent, mirrored):
    store = InMemorySessionStore()
    agent.begin().emit(mirrored(1)).say("hi").wait("eof").emit(mirrored(2))

    with anyio.fail_after(40):
        async with ClaudeSDKClient(ClaudeAgentOptions(cli_path=agent.path, session_store=store)) as client:
            await client.query("go")
            async for message in client.receive_messages():
                if isinstance(message, AssistantMessage):
                    break

    entries = await store.load({"project_key": "-p", "session_id": ID})
    assert [entry["n"] for entry in entries] == [1, 2]


async def test_what_an_agent_mirrored_before_it_failed_is_written(agent, mirrored):
    store = Recorder()
    agent.begin().emit(mirrored(1)).exit(3)

    with pytest.raises(ProcessError, match="exit code: 3"):
        await store.run(agent)

    assert store.events[-1] == [1]


async def test_several_turns_are_each_in_the_store_before_their_result(agent, mirrored):
    store = Recorder()
    agent.wait("init")
    for number in (1, 2):
        agent.wait("user").emit(mirrored(number)).result(str(number))
    with anyio.fail_after(40):
        async with ClaudeSDKClient(ClaudeAgentOptions(cli_path=agent.path, session_store=store)) as client:
            for number in (1, 2):
                await client.query("go")
                results = [m async for m in client.receive_response() if isinstance(m, ResultMessage)]
                assert (results[-1].result, store.events[-1]) == (str(number), [number])


async def test_a_transcript_outside_the_agents_folder_is_told_once(agent, mirrored, caplog):
    store = Recorder()
    elsewhere = mirrored(1, to="/elsewhere/t.jsonl")
    agent.begin().emit(elsewhere, elsewhere, mirrored(2)).result()

    with caplog.at_level(logging.WARNING):
        messages = await store.run(agent)

    told = [message for message in messages if isinstance(message, MirrorErrorMessage)]
    assert [(message.key, "/elsewhere/t.jsonl" in message.error) for message in told] == [(None, True)]
    assert store.appended == [[2]]


async def test_a_folder_that_the_options_name_is_the_agents(agent, mirrored, tmp_path):
    store = InMemorySessionStore()
    path = tmp_path / "other" / "projects" / "-p" / "any.jsonl"
    agent.begin().emit(mirrored(1, to=str(path))).result()

    await Recorder.run(Keeping(store), agent, env={"CLAUDE_CONFIG_DIR": str(tmp_path / "other")})

    assert await store.load({"project_key": "-p", "session_id": "any"}) is not None


async def test_without_a_store_mirrored_entries_are_nothing(agent, mirrored):
    agent.begin().emit(mirrored(1)).result()

    with anyio.fail_after(40):
        messages = [m async for m in query(prompt="go", options=ClaudeAgentOptions(cli_path=agent.path))]

    assert [type(m).__name__ for m in messages] == ["SystemMessage", "ResultMessage"]
