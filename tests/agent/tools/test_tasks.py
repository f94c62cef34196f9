"""The list of tasks."""

import pytest

pytestmark = pytest.mark.anyio


async def create(session, *subjects):
    for subject in subjects:
        await session.call("TaskCreate", subject=subject, description=f"{subject}, all of it")


@pytest.mark.feature("TOOL-14")
async def test_tasks_are_numbered_shown_and_moved_on(session):
    await create(session, "Build", "Test")
    moved = await session.call("TaskUpdate", taskId="1", status="in_progress", owner="me")
    listed = await session.call("TaskList")

    assert moved.content == "Updated task #1 owner, status"
    assert moved.structured["statusChange"] == {"from": "pending", "to": "in_progress"}
    assert listed.content == "#1 [in_progress] Build (me)\n#2 [pending] Test"


@pytest.mark.feature("TOOL-14")
async def test_a_task_waits_for_others_until_they_are_done(session):
    await create(session, "Build", "Test")
    await session.call("TaskUpdate", taskId="2", addBlockedBy=["1", "99", "2"])

    assert (await session.call("TaskGet", taskId="1")).structured["task"]["blocks"] == ["2"]
    assert "[blocked by #1]" in (await session.call("TaskList")).content
    await session.call("TaskUpdate", taskId="1", status="completed")
    assert "blocked" not in (await session.call("TaskList")).content


async def test_a_deleted_task_is_gone_and_its_number_is_not_given_again(session):
    await create(session, "Build", "Test")
    await session.call("TaskUpdate", taskId="2", addBlockedBy=["1"])
    await session.call("TaskUpdate", taskId="1", status="deleted")
    await create(session, "Ship")

    assert (await session.call("TaskGet", taskId="1")).content == "Task not found"
    assert (await session.call("TaskUpdate", taskId="1", status="completed")).structured["success"] is False
    assert (await session.call("TaskList")).content == "#2 [pending] Test\n#3 [pending] Ship"


async def test_notes_are_merged_and_taken_away_by_null(session):
    await create(session, "Build")
    await session.call("TaskUpdate", taskId="1", metadata={"a": 1, "b": 2})
    await session.call("TaskUpdate", taskId="1", metadata={"a": None})

    assert session.context.tasks.find("#1").metadata == {"b": 2}
