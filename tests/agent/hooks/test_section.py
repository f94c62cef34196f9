"""The hooks that settings files put in force, and what is said of those that are wrong."""

import pytest

from claude_wrapper.agent.hooks.hook import CommandHook, HttpHook, PromptHook, ToolHook
from claude_wrapper.agent.hooks.plan import SettingsSource, plan_hooks
from claude_wrapper.agent.hooks.registry import HookRegistry
from claude_wrapper.agent.hooks.section import read_section


def command(text, **fields):
    return {"type": "command", "command": text, **fields}


def source(name, event="Stop", **values):
    hooks = {event: [{"hooks": [command(name)]}]}
    return SettingsSource(name, {"hooks": hooks, **values}, f"{name}.json")


def commands(sources):
    return [hook.label for hooks in plan_hooks(sources).hooks.values() for hook in hooks]


@pytest.mark.feature("HOOK-03")
def test_every_kind_of_hook_is_read():
    hooks, problems = read_section(
        {
            "PreToolUse": [
                {
                    "matcher": "Bash",
                    "hooks": [
                        command("a", timeout=3, **{"if": "Bash(git *)"}),
                        {"type": "http", "url": "http://x/", "headers": {"A": "$B"}, "allowedEnvVars": ["B"]},
                        {"type": "prompt", "prompt": "fine?", "continueOnBlock": True},
                        {"type": "mcp_tool", "server": "s", "tool": "t", "input": {"a": "${tool_name}"}},
                    ],
                }
            ]
        },
        "f",
    )

    assert problems == []
    assert [type(hook) for hook in hooks["PreToolUse"]] == [CommandHook, HttpHook, PromptHook, ToolHook]
    first = hooks["PreToolUse"][0]
    assert (first.matcher, first.seconds, first.condition) == ("Bash", 3, "Bash(git *)")


@pytest.mark.feature("HOOK-03")
def test_an_event_that_nobody_knows_costs_nothing_but_itself():
    hooks, problems = read_section({"stop": [], "Stop": [{"hooks": [command("a")]}]}, "/x/settings.json")

    assert [hook.label for hook in hooks["Stop"]] == ["a"]
    assert "/x/settings.json: hooks.stop" in problems[0].text


@pytest.mark.parametrize(
    ("section", "named"),
    [
        ([], "hooks"),
        ({"Stop": {}}, "hooks.Stop"),
        ({"Stop": [{"hooks": [{"type": "command"}]}]}, "hooks.Stop[0].hooks[0]"),
        ({"Stop": [{"hooks": [{"type": "nosuch"}]}]}, "hooks.Stop[0].hooks[0].type"),
        ({"Stop": [{"hooks": [command("a", timeout="x")]}]}, "hooks.Stop[0].hooks[0].timeout"),
        ({"Stop": [{"hooks": [command("a", timeout=0)]}]}, "hooks.Stop[0].hooks[0].timeout"),
        ({"Stop": [{"matcher": 5, "hooks": [command("a")]}]}, "hooks.Stop[0].matcher"),
    ],
)
def test_what_is_wrong_is_named_by_file_and_key_and_does_not_run(section, named):
    hooks, problems = read_section(section, "/x/settings.json")

    assert hooks == {}
    assert problems[-1].text.startswith("/x/settings.json: ")
    assert named in problems[-1].text


@pytest.mark.parametrize(
    "wrong",
    [5, {"matcher": "x"}, {"hooks": [{"type": "nosuch"}]}, {"matcher": 5, "hooks": [command("b")]}],
)
def test_what_is_wrong_is_left_out_by_itself(wrong):
    hooks, problems = read_section(
        {"Stop": [wrong, {"hooks": [{"type": "command"}, command("a")]}], "SessionEnd": "x"}, "f.json"
    )

    assert [hook.label for hook in hooks["Stop"]] == ["a"]
    assert len(problems) == 3


def test_a_matcher_that_is_no_expression_is_named_by_file_and_key():
    hooks, problems = read_section({"PreToolUse": [{"matcher": "(", "hooks": [command("a")]}]}, "f.json")

    assert problems[0].text.startswith("f.json: hooks.PreToolUse[0].matcher: `(`")
    assert not problems[0].voids
    assert len(hooks["PreToolUse"]) == 1


@pytest.mark.feature("HOOK-13")
@pytest.mark.parametrize(
    ("event", "kind", "seconds"),
    [
        ("PreToolUse", command("a"), 600),
        ("UserPromptSubmit", command("a"), 30),
        ("SessionEnd", command("a"), 1.5),
        ("SessionEnd", command("a", timeout=20), 20),
        ("Stop", {"type": "prompt", "prompt": "p"}, 30),
    ],
)
def test_how_long_a_hook_may_take(event, kind, seconds):
    hooks, _ = read_section({event: [{"hooks": [kind]}]}, "f")

    assert hooks[event][0].seconds == seconds


@pytest.mark.feature("HOOK-21")
def test_only_commands_and_tools_are_asked_about_the_start_of_a_session():
    kinds = [command("a"), {"type": "http", "url": "http://x/"}, {"type": "prompt", "prompt": "p"}]
    hooks, problems = read_section({"SessionStart": [{"hooks": kinds}]}, "f")

    assert [hook.label for hook in hooks["SessionStart"]] == ["a"]
    assert problems == []


@pytest.mark.feature("HOOK-01")
def test_hooks_of_all_sources_are_in_force():
    assert commands([source("userSettings"), source("projectSettings")]) == [
        "userSettings",
        "projectSettings",
    ]


@pytest.mark.feature("HOOK-24")
@pytest.mark.parametrize(
    ("sources", "left"),
    [
        ([source("userSettings", disableAllHooks=True), source("flagSettings")], []),
        (
            [source("userSettings", disableAllHooks=True), source("flagSettings", disableAllHooks=False)],
            ["userSettings", "flagSettings"],
        ),
        ([source("flagSettings", disableAllHooks=True), source("policySettings")], ["policySettings"]),
        ([source("userSettings"), source("policySettings", disableAllHooks=True)], []),
        ([source("userSettings"), source("policySettings", allowManagedHooksOnly=True)], ["policySettings"]),
        (
            [source("userSettings", allowManagedHooksOnly=True), source("policySettings")],
            ["userSettings", "policySettings"],
        ),
    ],
)
def test_which_hooks_are_left_when_some_are_turned_off(sources, left):
    assert commands(sources) == left


@pytest.mark.feature("HOOK-21")
def test_addresses_and_variables_may_be_limited():
    hooks = {
        "Stop": [
            {
                "hooks": [
                    {"type": "http", "url": "https://good.example/x", "allowedEnvVars": ["A", "B"]},
                    {"type": "http", "url": "https://bad.example/x"},
                ]
            }
        ]
    }
    limits = {"allowedHttpHookUrls": ["https://good.example/*"], "httpHookAllowedEnvVars": ["A"]}
    plan = plan_hooks([SettingsSource("userSettings", {"hooks": hooks, **limits}, "f")])

    assert [(hook.url, hook.variables) for hook in plan.hooks["Stop"]] == [("https://good.example/x", ("A",))]


def test_hooks_that_do_the_same_run_once_whatever_their_limits():
    hooks, _ = read_section(
        {"PreToolUse": [{"hooks": [command("a"), command("a", timeout=5), command("b")]}]}, "f"
    )
    registry = HookRegistry()
    registry.replace_settings_hooks(hooks)

    assert [hook.label for hook in registry.concerned("PreToolUse", "Bash", {})] == ["a", "b"]


@pytest.mark.feature("HOOK-06")
def test_a_condition_keeps_a_hook_from_events_that_are_no_calls():
    hooks, _ = read_section({"Stop": [{"hooks": [command("a", **{"if": "Bash"})]}]}, "f")
    registry = HookRegistry()
    registry.replace_settings_hooks(hooks)

    assert registry.concerned("Stop", None) == []


@pytest.mark.feature("HOOK-04")
@pytest.mark.parametrize(("subject", "hit"), [("rate-limit", False), ("rate_limit", True)])
def test_failures_and_files_have_fewer_plain_names(subject, hit):
    hooks, _ = read_section({"StopFailure": [{"matcher": "rate_limit|x", "hooks": [command("a")]}]}, "f")
    registry = HookRegistry()
    registry.replace_settings_hooks(hooks)

    assert bool(registry.concerned("StopFailure", subject)) is hit
