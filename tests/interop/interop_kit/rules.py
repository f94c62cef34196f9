"""The rules by which two plays are made comparable, each with its reason; nothing else is left out of a comparison.

No rule names a scenario. What no rule mentions is compared as it is: order, types, flags, counts, inputs, results,
costs, exit codes.
"""

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any


@dataclass(frozen=True)
class FrameRule:
    """Messages that are left out, told by `type` or `subtype`."""

    why: str
    kinds: frozenset[str]


@dataclass(frozen=True)
class KeyRule:
    """Members of objects that are left out (`put` is None) or whose value is replaced by `put`."""

    why: str
    keys: frozenset[str]
    put: str | None = None


@dataclass(frozen=True)
class HeaderRule:
    """Headers, or betas in one of them, that are left out; names with `*`."""

    why: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class TextRule:
    """A pattern inside any text, and what stands in its place."""

    why: str
    pattern: re.Pattern[str]
    put: str


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FRAMES = [
    FrameRule(
        "news of the product's own screens, which a host is told to skip",
        words("command_lifecycle autocompact_state keep_alive commands_changed tool_progress ui_invalidate"),
    ),
    FrameRule(
        "an estimate while thinking streams in; how often it comes depends on the clock",
        words("thinking_tokens"),
    ),
]

KEYS = [
    KeyRule(
        "clocks: present in both, never equal",
        words(
            "duration_ms duration_api_ms timestamp durationMs totalDurationMs end_time start_time total_paused_ms"
            " elapsed_time_seconds mtime retry_delay_ms last_modified created_at"
        ),
        put="<clock>",
    ),
    KeyRule(
        "measurements that an agent may add",
        words(
            "ttft_ms ttft_stream_ms time_to_request_ms first_content_frame_ms request_sent_wall_ms"
            " thinking_duration_ms first_request_input_tokens first_request_cache_read_input_tokens"
        ),
    ),
    KeyRule("each names its own release", words("claude_code_version version"), put="<version>"),
    KeyRule("which models there are is the vendor's affair", words("models"), put="<models>"),
    KeyRule("each client and each server says who it is", words("clientInfo serverInfo"), put="<client>"),
    KeyRule("processes have the ids that they get", words("pid"), put="<pid>"),
    KeyRule(
        "transcripts hold what their writer needs beside the conversation", words("file_size"), put="<size>"
    ),
    KeyRule(
        "state of the vendor's product, its screens, its hosting and its experiments, which no other agent has",
        words(
            "messaging_socket_path memory_paths capabilities analytics_disabled product_feedback_disabled"
            " served_by_anthropic fast_mode_state fast_mode_disabled_reason view_mode per_turn_effort_active"
            " ultrathink_available ultrathink_typed_raises terminal_slash_commands sandbox_enabled subagent_stats"
            " safety_stops model_usage_since_last_result diagnostics feedback_mode credential_expires_at prompt_id"
            " api_message_id request_ids requestId run_id runId user_output_styles_dir hooks_when_unanswered_kept"
            " other_hook_ask_outranks_host remote_control_auto_enable remote_control_auto_connect_default"
            " remote_control_available remote_control_auto_on_by_default ide_rc_auto_enable_gate"
            " tokenSource apiProvider"
        ),
    ),
    KeyRule(
        "how full the window is depends on each agent's own prompt and tools",
        words("context_usage usage_report"),
    ),
    KeyRule(
        "estimates, which count each agent's own prompt and notes",
        words("pre_tokens post_tokens cumulative_dropped_tokens"),
        put="<estimate>",
    ),
    KeyRule("why a compaction failed is said in words", words("compact_error"), put="<words>"),
    KeyRule(
        "what a `cd` means in the background is said in words", words("backgroundCwdHint"), put="<words>"
    ),
    KeyRule(
        "an agent's own notes in its transcript have ids, too, and count among what a compaction keeps",
        words("uuids all_uuids tail_uuid logical_parent_uuid"),
        put="<ids>",
    ),
    KeyRule(
        "bookkeeping of the vendor about a subagent's report",
        words("harnessNoteCount harnessTailCount harnessSectionHash canContinueAgent"),
    ),
    KeyRule(
        "members of token counts that repeat the four counts or belong to the vendor's accounts",
        words(
            "output_tokens_details server_tool_use service_tier cache_creation inference_geo iterations speed"
            " fallback_credit context_management thinkingTokens cacheCreationEphemeral5mInputTokens"
            " cacheCreationEphemeral1hInputTokens canonicalModel provider costBasis webSearchRequests"
        ),
    ),
]

TEXTS = [
    TextRule("ports are free ones", re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:PORT"),
    TextRule(
        "folders for large results bear random names", re.compile(r"tool-results/[\w-]+"), "tool-results/ID"
    ),
    TextRule(
        "what an agent remarks below a file is in its own words",
        re.compile(r"\n\n\[(This file|PARTIAL view)[^\]]*\]"),
        "\n\n[REMARK]",
    ),
    TextRule(
        "plans are kept under names of chance", re.compile(r"\.claude/plans/[\w-]+"), ".claude/plans/NAME"
    ),
]

HEADERS = [
    HeaderRule(
        "how bytes travel, not what they say", ("host", "content-length", "connection", "accept-encoding")
    ),
    HeaderRule("the vendor's client library describes itself", ("x-stainless-*",)),
    HeaderRule(
        "the vendor's product describes itself", ("x-app", "anthropic-dangerous-direct-browser-access")
    ),
]

BETAS = [
    HeaderRule(
        "switches of the vendor's product and of fields that only it sends",
        (
            "claude-code-*",
            "context-management-*",
            "per-turn-control-*",
            "mid-conversation-*",
            "thinking-token-count-*",
            "advanced-tool-use-*",
        ),
    ),
    HeaderRule(
        "ask the vendor's servers to check calls where the mode is auto; ours asks the model itself",
        ("afk-mode-*", "dangerous-tool-use-*"),
    ),
]

BETA_OF_BUDGETS = "interleaved-thinking-2025-05-14"
"""Models that think as they see fit do so between tools without being asked, and a model that does not think has no
use for it: compared where thinking has a budget."""

FIELDS_ELSEWHERE = words("model messages system tools stream thinking output_config metadata")
"""Fields of a request that are compared on their own."""

FIELDS = [
    KeyRule(
        "tells the API to clear nothing, which is the same as to say nothing", words("context_management")
    ),
    KeyRule(
        "asks the vendor's servers to check calls where the mode is auto; ours asks the model itself",
        words("safeguards"),
    ),
]

DEFAULTS = {"temperature": 1}
"""Fields that say what holds without them."""

METHODS_WITHOUT_RESULT = words(
    "interrupt set_permission_mode set_model rewind_files reconnect_mcp_server toggle_mcp_server stop_task"
    " rename_session tag_session delete_session"
)
"""The official Python SDK declares that these return nothing; a library that tells more breaks no program."""

ASIDE = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
"""What an agent tells the model beside the conversation is in its own words."""

NOTES = re.compile(r"\s*(<(tools-used-before-summary)>.*</\2>\s*)?", re.DOTALL)
"""Blocks of text in a result that an agent writes for itself, and empty ones."""

LISTS_OF_THE_VENDOR = words("tools slash_commands skills agents plugins commands available_output_styles")
"""Lists of what is on offer. Each vendor offers its own; entries stay when the scenario named them, or when they are
in `TOOLS_OF_BOTH`."""

IDS_OF_PROMPTS = words("user_message_uuid user_message_uuids")
"""An SDK may put an id of its own on a prompt, or none; only ids that the scenario gave are compared."""

TOOLS_THAT_PASS_ON = words("Bash Read Glob Grep")
"""Tools whose results are what a program or a file says, so that every character counts."""

TOOLS_OF_BOTH = words("Bash Edit Read Write")

OF_THE_AGENT = re.compile(
    r"(\w+\n)?Command (running in|was manually|did not complete) .*backgrounde?d?\b", re.DOTALL
)
"""Results of such a tool that no program said: a command runs on in the background."""

CLASSES_OF_THE_OFFICIAL_SDK = words(
    "ClaudeSDKError CLIConnectionError CLINotFoundError CLIJSONDecodeError ProcessError ResultError MessageParseError"
    " FileNotFoundError OSError ValueError TypeError RuntimeError TimeoutError Exception Error"
)
"""Exceptions are compared by these: a finer class of ours counts as the nearest of them, since an `except` clause
written for the official SDK catches it."""

FACTS = [
    re.compile(pattern, re.DOTALL)
    for pattern in (
        r"File created successfully at: \S+",
        r"The file \S+ has been updated( successfully)?\.( All occurrences were successfully replaced\.)?",
        r"File does not exist\.",
        r"EISDIR: illegal operation on a directory, read '[^']*'",
        r"<tool_use_error>File has not been read yet\. Read it first before writing to it\.",
        r"<tool_use_error>String to replace not found in file\.\nString: .*</tool_use_error>",
        r"<tool_use_error>Found \d+ matches of the string to replace, but replace_all is false\.",
        r"<tool_use_error>No changes to make: old_string and new_string are exactly the same\.",
        r"<tool_use_error>File is in a directory that is denied by your permission settings\.",
        r"<tool_use_error>Error: No such tool available: \S+</tool_use_error>",
        r"<tool_use_error>Error: No such tool available: \w+\. \w+ is ",
        r"<tool_use_error>InputValidationError: \w+ failed due to the following issues?:.*",
        r"<tool_use_error>Cell with ID \"[^\"]*\" not found in notebook\.",
        r"Exit code \d+(\n.*)?",
        r"\(Bash completed with no output\)",
        r"<persisted-output>",
        r"Command running in background with ID: \S+\. Output is being written to: \S+\.",
        r"Command was manually backgrounded by user with ID: \S+\. Output is being written to: \S+\.",
        r"(\w+\n)?Command did not complete within its \d+s timeout and was moved to the background \(ID: \S+\)\.",
        r"No task found with ID: \S+",
        r"PreToolUse:\w+ hook error: ",
        r"Permission to use \w+.* has been denied\.",
        r"Claude requested permissions to \w+ to \S+, but you haven't granted it yet\.",
        r"Tool permission request failed: (Error: )?",
        r"Stop hook feedback:\n",
        r"\[Request interrupted by user( for tool use)?\]",
        r"The user doesn't want to proceed with this tool use\.",
        r"Reached maximum number of turns \(\d+\)",
        r"Reached maximum budget \(\$[\d.]+\)",
        r"API Error: \d+",
        r"Structured output provided successfully",
        r"Output does not match required schema: .*",
        r"error: unknown option '[^']+'",
        r"error: option '[^']+' argument missing",
        r"error: option '[^']+' argument '[^']*' is invalid\.",
        r"Invalid (MCP|--agents) configuration:",
        r"(Settings|System prompt|Append system prompt) file not found: \S+",
        r"Settings file exceeds the 2MiB limit: \S+",
        r"Invalid JSON provided to --settings",
        r"Error processing --setting-sources: Invalid setting source: \w+\.",
        r"Ignoring \d+ permissions\.\w+ entr(y|ies) from \S+: this workspace has not been trusted\.",
        r"Managed settings contain invalid entries",
        r"bypassPermissions not supported in restricted mode",
        r"--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons",
        r"Cannot set permission mode to \w+",
        r"Cannot write to \S+ while in plan mode\.",
        r"Permission for this tool use was denied\.",
        r"User has approved your plan\.",
        r"Reached max turns \(\d+\)",
        r"Exceeded USD budget \([\d.]+\)",
        r"No conversation found with session ID: \S+",
        r"Session ID \S+ is already in use\.",
        r"Launching skill: \S+",
        r"User has approved exiting plan mode\. You can now proceed\.",
        r"<local-command-stdout>",
        r"Task #\d+ created successfully: ",
        r"Updated task #\d+ \w+",
        r"Task not found",
        r"(Task )?#\d+[ :].*",
        r"(Updated|Inserted|Deleted) cell \S+( with )?",
        r"Your questions have been answered: (\"[^\"]*\"=\"[^\"]*\",? ?)*",
    )
]
"""Beginnings of texts that a model or a caller may depend on: these are compared, and what follows them is not.
Any other sentence that neither the scenario nor a program wrote is only compared by the scenario's own words in it."""


def drops(key: str) -> bool:
    """Whether a rule leaves this member out."""
    return any(rule.put is None and key in rule.keys for rule in KEYS)


def replacement(key: str) -> Any:
    """What a rule puts in the place of this member's value; None: nothing."""
    return next((rule.put for rule in KEYS if rule.put is not None and key in rule.keys), None)


def is_note(text: str) -> bool:
    """Whether a text block says nothing that is to be compared."""
    return NOTES.fullmatch(text) is not None


def leaves_out(kind: str | None) -> bool:
    """Whether a rule leaves out messages of this `type` or `subtype`."""
    return any(kind in rule.kinds for rule in FRAMES)


def leaves_out_header(name: str) -> bool:
    """Whether a rule leaves out this header."""
    return any(fnmatchcase(name, pattern) for rule in HEADERS for pattern in rule.names)


def leaves_out_beta(beta: str, thinking: str | None) -> bool:
    """Whether a rule leaves out this beta in a request that thinks so."""
    if beta == BETA_OF_BUDGETS:
        return thinking != "enabled"
    return any(fnmatchcase(beta, pattern) for rule in BETAS for pattern in rule.names)


def leaves_out_field(field: str, value: Any) -> bool:
    """Whether a field of a request is compared on its own, or left out by a rule."""
    is_default = field in DEFAULTS and value == DEFAULTS[field]
    return is_default or field in FIELDS_ELSEWHERE or any(field in rule.keys for rule in FIELDS)
