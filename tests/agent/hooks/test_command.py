"""A command hook as a process: what it gets, how it ends, and that nothing it does can hang the agent."""

import anyio
import pytest

from claude_wrapper.agent.hooks.command import CommandRun
from claude_wrapper.agent.hooks.hook import CommandHook

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("bounded")]


@pytest.mark.feature("HOOK-08")
async def test_it_reads_the_event_and_runs_in_the_project(run_hook, tmp_path):
    run = await run_hook('cat; pwd; echo "$CLAUDE_PROJECT_DIR"', b'{"a":1}\n')

    assert run.end.stdout == f'{{"a":1}}\n{tmp_path}\n{tmp_path}\n'
    assert run.end.code == 0


@pytest.mark.feature("HOOK-08")
async def test_with_arguments_there_is_no_shell(run_hook, tmp_path):
    run = await run_hook("/usr/bin/printf", args=("%s|", "a b", "$HOME", "${CLAUDE_PROJECT_DIR}"))

    assert run.end.stdout == f"a b|$HOME|{tmp_path}|"


async def test_an_event_of_megabytes_waits_for_nobody(run_hook):
    run = await run_hook("wc -c", b"x" * 3_000_000)
    unread = await run_hook("exit 0", b"x" * 3_000_000)

    assert run.end.stdout.strip() == "3000000"
    assert unread.end.code == 0


async def test_output_of_megabytes_is_cut_and_the_hook_still_ends(run_hook):
    run = await run_hook("head -c 20000000 /dev/zero; echo end >&2")

    assert len(run.end.stdout) == 8 * 1024 * 1024
    assert run.end.stderr == "end\n"
    assert run.end.code == 0


@pytest.mark.feature("HOOK-13")
async def test_one_that_hangs_is_ended_with_all_that_it_has_started(run_hook, tmp_path, alive, eventually):
    run = await run_hook("trap '' TERM; sleep 600 & echo $! > child; sleep 600", seconds=0.5)

    assert run.end.how == "timeout"
    child = int((tmp_path / "child").read_text())
    eventually(lambda: not alive(child))


async def test_children_that_keep_the_output_open_are_not_waited_for(run_hook):
    run = await run_hook("sleep 600 & echo done")

    assert run.end.stdout == "done\n"


async def test_closed_output_is_no_end(run_hook, tmp_path):
    run = await run_hook("exec >&- 2>&-; sleep 0.3; touch reached")

    assert run.end.code == 0
    assert (tmp_path / "reached").exists()


@pytest.mark.parametrize(
    ("command", "code", "how"),
    [
        ("exit 1", 1, "ended"),
        ("/nonexistent/hook", 127, "broken"),
        ("./no-program", 126, "broken"),
        ("kill -9 $$", 1, "broken"),
    ],
)
@pytest.mark.feature("HOOK-12")
async def test_how_it_failed(run_hook, tmp_path, command, code, how):
    (tmp_path / "no-program").write_text("no program")
    run = await run_hook(command)

    assert (run.end.code, run.end.how) == (code, how)


@pytest.mark.parametrize("program", ["/nonexistent/hook", "a\0b"])
async def test_a_program_that_cannot_be_started_says_so(run_hook, program):
    run = await run_hook(program, args=())

    assert run.end.how == "broken"
    assert "could not be started" in run.end.stderr


async def test_bytes_that_are_no_text_are_replaced(run_hook):
    run = await run_hook(r"printf '\377\376abc'")

    assert run.end.stdout == "��abc"


async def test_both_outputs_together_are_in_the_order_in_which_they_came(run_hook):
    run = await run_hook("echo one; sleep 0.2; echo two >&2; sleep 0.2; echo three")

    assert run.end.output == "one\ntwo\nthree\n"


@pytest.mark.feature("HOOK-20")
@pytest.mark.usefixtures("run_hook")
async def test_a_first_line_may_ask_not_to_be_waited_for(around):
    hook = CommandHook(command="echo '{\"async\": true}'; sleep 60", seconds=60.0)
    run = CommandRun(hook, b"{}", around, lambda _: None)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run.run)
        with anyio.fail_after(40):
            await run.settled.wait()
        assert run.detached
        assert run.end is None
        run.scope.cancel()
