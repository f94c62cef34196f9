import pytest

pytestmark = pytest.mark.anyio


def todo(content, status="pending"):
    return {"content": content, "status": status, "activeForm": f"{content}ing"}


@pytest.mark.feature("TOOL-14")
async def test_the_whole_list_is_replaced_and_both_are_told(session):
    first, second = [todo("Test"), todo("Build")], [todo("Test", "in_progress")]
    output = await session.call("TodoWrite", todos=first)
    assert output.structured == {"oldTodos": [], "newTodos": first}
    assert isinstance(output.content, str)
    assert output.is_error is None
    assert (await session.call("TodoWrite", todos=second)).structured == {
        "oldTodos": first,
        "newTodos": second,
    }


async def test_a_list_that_is_done_is_put_away(session):
    done = [todo("Test", "completed")]
    assert (await session.call("TodoWrite", todos=done)).structured["newTodos"] == done
    assert (await session.call("TodoWrite", todos=[])).structured == {"oldTodos": [], "newTodos": []}


async def test_keys_that_nobody_asked_for_are_left_out(session):
    output = await session.call("TodoWrite", todos=[{**todo("Test"), "priority": 1}])
    assert output.structured["newTodos"] == [todo("Test")]
