from claude_wrapper.conversation.turns import ResultKind, TurnTracker


def test_results_without_names_answer_the_prompts_in_order():
    turns = TurnTracker()
    turns.prompt_sent(None)
    turns.prompt_sent(None)

    turns.result_came([], background=False)
    assert turns.turn_is_open
    turns.result_came([], background=False)
    assert not turns.turn_is_open

    assert [turns.result_taken(), turns.result_taken()] == [ResultKind.ANSWER, ResultKind.ANSWER]


def test_one_result_may_answer_several_prompts_by_name():
    turns = TurnTracker()
    turns.prompt_sent("a")
    turns.prompt_sent("b")

    turns.result_came(["a", "b"], background=False)

    assert not turns.turn_is_open


def test_prompts_that_share_a_turn_are_settled_when_the_agent_is_idle():
    turns = TurnTracker()
    turns.state_changed("running")
    turns.prompt_sent(None)
    turns.prompt_sent(None)

    turns.result_came([], background=False)
    turns.state_changed("idle")

    assert not turns.turn_is_open


def test_a_background_result_answers_no_prompt():
    turns = TurnTracker()
    turns.prompt_sent("a")

    turns.result_came([], background=True)

    assert turns.turn_is_open
    assert turns.result_taken() is ResultKind.BACKGROUND


def test_an_interrupted_turn_is_skipped_once_something_else_was_asked():
    turns = TurnTracker()
    turns.prompt_sent("a")
    turns.interrupted()
    assert not turns.skip_next, "nothing else is wanted yet, so its result is what the user waits for"

    turns.prompt_sent("b")
    assert turns.skip_next
    turns.result_came(["a"], background=False)
    turns.result_came(["b"], background=False)
    assert turns.skip_next
    assert turns.result_taken() is ResultKind.ABANDONED
    assert not turns.skip_next
    assert turns.result_taken() is ResultKind.ANSWER


def test_an_interrupt_leaves_a_turn_alone_that_has_its_result():
    turns = TurnTracker()
    turns.prompt_sent("a")
    turns.result_came(["a"], background=False)
    turns.interrupted()
    turns.prompt_sent("b")

    assert not turns.skip_next
    assert turns.result_taken() is ResultKind.ANSWER


def test_a_run_is_over_at_the_first_result_of_an_agent_that_tells_no_states():
    turns = TurnTracker()
    turns.prompt_sent(None)
    assert not turns.run_is_over
    turns.result_came([], background=False)
    assert turns.run_is_over


def test_a_run_is_over_when_the_agent_says_it_is_idle():
    turns = TurnTracker()
    turns.prompt_sent(None)
    turns.state_changed("running")
    turns.result_came([], background=False)
    assert not turns.run_is_over
    turns.state_changed("idle")
    assert turns.run_is_over


def test_a_run_is_not_over_while_a_subagent_works():
    turns = TurnTracker()
    turns.prompt_sent(None)
    turns.task_event("task_started", {"task_id": "t", "task_type": "local_agent"})
    turns.task_event("task_started", {"task_id": "shell", "task_type": "local_bash"})
    turns.result_came([], background=False)
    assert not turns.run_is_over
    turns.task_event("task_notification", {"task_id": "t"})
    assert turns.run_is_over


def test_a_further_prompt_makes_the_run_go_on():
    turns = TurnTracker()
    turns.prompt_sent(None)
    turns.result_came([], background=False)
    turns.prompt_sent(None)
    assert not turns.run_is_over


def test_a_prompt_that_was_taken_back_is_not_open_any_more():
    turns = TurnTracker()
    turns.prompt_sent("a")
    turns.prompt_sent("b")
    turns.prompts_cancelled(["b", "unknown"])
    turns.result_came(["a"], background=False)

    assert not turns.turn_is_open


def test_prompts_that_wait_behind_an_interrupted_turn_are_not_abandoned():
    turns = TurnTracker()
    turns.prompt_sent("a")
    turns.prompt_sent("b")
    turns.interrupted()
    turns.still_queued(["b"])
    turns.result_came(["a"], background=False)
    turns.result_came(["b"], background=False)

    assert turns.skip_next
    assert turns.result_taken() is ResultKind.ABANDONED
    assert turns.result_taken() is ResultKind.ANSWER


def test_an_agent_works_from_a_prompt_until_it_is_idle_behind_its_result():
    turns = TurnTracker()
    assert not turns.is_working
    turns.prompt_sent(None)
    turns.state_changed("running")
    assert turns.is_working
    turns.result_came([], background=False)
    assert (turns.turn_is_open, turns.is_working) == (False, True)
    turns.state_changed("idle")
    assert not turns.is_working


def test_each_prompt_that_finds_none_open_begins_a_round():
    turns = TurnTracker()
    turns.prompt_sent(None)
    turns.prompt_sent(None)
    assert turns.round == 1
    turns.result_came([], background=False)
    turns.result_came([], background=False)
    turns.prompt_sent(None)
    assert turns.round == 2
