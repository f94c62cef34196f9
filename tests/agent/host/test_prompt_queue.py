"""The queue of prompts, by itself."""

import anyio
import pytest

from claude_wrapper.agent.host.prompts import Prompt, PromptQueue, merged


@pytest.fixture
def anyio_backend():
    return "asyncio"


def queue(busy=True):
    told = []
    made = PromptQueue(
        lambda prompt: told.append(prompt.content), lambda prompt: told.append(f"again {prompt.content}")
    )
    made.busy = busy
    made.told = told
    return made


async def take(made):
    with anyio.fail_after(40):
        prompts = await made.next_turn()
    return None if prompts is None else [prompt.content for prompt in prompts]


@pytest.mark.anyio
async def test_the_first_prompt_of_an_idle_session_has_its_turn_to_itself():
    made = queue(busy=False)
    async with anyio.create_task_group() as tasks:
        got = []

        async def wait():
            got.append(await take(made))

        tasks.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        for text in "AB":
            made.put(Prompt(text))
    assert got == [["A"]]
    assert await take(made) == ["B"]


@pytest.mark.anyio
async def test_urgent_first_then_the_usual_and_then_the_later_each_kind_together():
    made = queue()
    order = ("l1", "later"), ("a", None), ("b", "next"), ("n1", "now"), ("l2", "later"), ("n2", "now")
    for text, priority in order:
        made.put(Prompt(text, priority=priority))

    assert [await take(made) for _ in range(3)] == [["n1", "n2"], ["a", "b"], ["l1", "l2"]]


@pytest.mark.anyio
async def test_a_prompt_that_asks_nothing_shares_no_turn():
    made = queue()
    made.put(Prompt("a"))
    made.put(Prompt("note", asks_model=False))
    made.put(Prompt("b"))

    assert [await take(made) for _ in range(3)] == [["a"], ["note"], ["b"]]


@pytest.mark.anyio
async def test_what_waits_is_answered_after_the_end_and_then_there_is_nothing():
    made = queue()
    made.put(Prompt("a"))
    made.close()

    assert await take(made) == ["a"]
    assert await take(made) is None


def test_who_waits_is_told_once_and_a_repeated_one_never_waits():
    made = queue()
    made.put(Prompt("a", uuid="1"))
    made.announce_all()
    made.put(Prompt("a", uuid="1"))

    assert made.told == ["a"]
    assert len(made) == 1


def test_a_prompt_that_was_answered_is_told_again_and_never_waits():
    made = queue()
    made.put(Prompt("a", uuid="1"))
    made.joining()
    made.put(Prompt("a", uuid="1"))

    assert made.told[-1] == "again a"
    assert len(made) == 0


def test_only_usual_prompts_join_a_running_turn():
    made = queue()
    for text, priority in (("a", None), ("l", "later"), ("b", "next")):
        made.put(Prompt(text, priority=priority))

    assert [prompt.content for prompt in made.joining()] == ["a", "b"]
    assert made.joining() == []
    assert len(made) == 1


def test_an_urgent_prompt_rings_only_while_a_turn_runs():
    rings = []
    made = queue(busy=False)
    made.on_urgent = lambda: rings.append(1)
    made.put(Prompt("a", priority="now"))
    assert rings == []
    made.busy = True
    made.put(Prompt("b", priority="now"))
    assert rings == [1]
    assert made.urgent


def test_several_prompts_become_one():
    texts = merged([Prompt("a", "1"), Prompt("b", "2")])
    assert (texts.content, texts.uuid) == ("a\nb", "2")

    block = {"type": "image", "source": {}}
    mixed = merged([Prompt("a"), Prompt([block])])
    assert mixed.content == [{"type": "text", "text": "a"}, block]
