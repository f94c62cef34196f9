"""Bash rules against the commands of a line: generous where they refuse, strict where they allow."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from . import matching
from .call import Call
from .command_patterns import CommandPattern, command_pattern
from .reveal import Arguments, Revealed
from .rules import SourcedRule
from .runners import WHAT_THEY_START_IS_NOT_SHOWN
from .shell_line import Command, ShellLine
from .wrappers import sets_safe_variables_only, unwrapped

_OF_THE_SHELL_ITSELF = frozenset({"hash", "shopt"})
_ENVIRONMENT = re.compile(r"/proc/[^/]+/environ\Z")
_JQ_READS = ("-f", "-L", "--from-file", "--library-path", "--rawfile", "--slurpfile", "--run-tests")
_ENV_CHANGES = ("-C", "--chdir", "-S", "--split-string")
_FIND_ACTIONS = ("-exec", "-ok", "-delete", "-fprint", "-fls")


def refusing_rule(
    rules: Iterable[SourcedRule], call: Call, line: ShellLine, revealed: Revealed
) -> SourcedRule | None:
    """The first deny or ask rule that speaks of anything the line may run."""
    wanted = matching.content_rules(rules, call.tool_name)
    if not wanted:
        return None
    texts = {line.text.strip(), *(command.raw for command in line.commands)}
    for arguments in revealed.commands:
        texts.update(_spoken(arguments))
    for rule in wanted:
        content = rule.rule.content or ""
        pattern = command_pattern(content)
        if any(pattern.matches(text) for text in texts):
            return rule
        if not content.endswith(":*") and matching.names_parameter(content, call):
            return rule
    return None


def allowing_whole_line(rules: Iterable[SourcedRule], call: Call, line: ShellLine) -> SourcedRule | None:
    """An allow rule that names exactly this line, whatever is in it."""
    text = line.text.strip()
    for rule in matching.content_rules(rules, call.tool_name):
        pattern = command_pattern(rule.rule.content or "")
        if pattern.exact and pattern.matches(text):
            return rule
    return None


def allow_patterns(rules: Iterable[SourcedRule], tool_name: str) -> list[CommandPattern]:
    """The patterns of the allow rules that speak of some commands."""
    return [command_pattern(rule.rule.content or "") for rule in matching.content_rules(rules, tool_name)]


def is_allowed(patterns: list[CommandPattern], command: Command) -> bool:
    """Whether one of the patterns allows one command of a line of which every command is known."""
    if not patterns:
        return False
    return any(
        _allows(pattern, text, head, exact_only)
        for text, head, exact_only in dict.fromkeys(_candidates(command))
        for pattern in patterns
    )


def _spoken(arguments: Arguments) -> Iterator[str]:
    """The texts under which a rule may know a command: as given, by its bare name, in small letters."""
    rest = arguments[1:]
    name = arguments[0].rsplit("/", 1)[-1]
    for program in {arguments[0], name, name.lower()}:
        yield " ".join((program, *rest))


def _candidates(command: Command) -> Iterator[tuple[str, int, bool]]:
    """Texts of the command, how much of each a rule must spell out, and whether it must be all of it."""
    before = " ".join(item.raw for item in command.assignments)
    if before:
        # A star must not stand for a variable that changes what the command is.
        yield command.raw, len(before), _hides_what_it_runs(command)
    if not sets_safe_variables_only(command.assignments):
        return
    for inner in unwrapped(command):
        exact_only = _hides_what_it_runs(inner)
        yield " ".join(word.plain for word in inner.words), 0, exact_only
        yield " ".join(word.raw for word in inner.words), 0, exact_only


def _allows(pattern: CommandPattern, text: str, head: int, exact_only: bool) -> bool:
    if exact_only and not pattern.exact:
        return False
    return len(pattern.pieces[0]) >= head and pattern.matches(text)


def hides_what_it_does(command: Command) -> bool:
    """Whether what a command would do is more than a question about it could say."""
    words = command.arguments
    if _hides_what_it_runs(command) or words[0] in _OF_THE_SHELL_ITSELF:
        return True
    if any(_ENVIRONMENT.match(word) for word in words[1:]):
        return True
    if words[0] == "jq":
        return any(word.startswith(_JQ_READS) for word in words[1:])
    if words[0] == "env":
        return any(word.startswith(_ENV_CHANGES) for word in words[1:2])
    return words[0] == "time" and words[1:2] != () and words[1].startswith("-")


def _hides_what_it_runs(command: Command) -> bool:
    """Whether a rule with a prefix says too little about the command to allow it."""
    words = command.arguments
    name = words[0].rsplit("/", 1)[-1]
    if name == "find":
        return any(word.is_glob or word.literal.startswith(_FIND_ACTIONS) for word in command.words[1:])
    return name in WHAT_THEY_START_IS_NOT_SHOWN
