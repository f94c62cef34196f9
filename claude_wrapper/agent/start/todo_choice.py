"""Which of the two kinds of list, of tasks or of todos, a session has; new models do without."""

from __future__ import annotations

import re

from claude_wrapper.agent.api.catalog import find_model
from claude_wrapper.agent.start.settings import Settings

__all__ = ["without_lists"]

_TASKS = frozenset({"TaskCreate", "TaskGet", "TaskList", "TaskUpdate"})
_TODOS = frozenset({"TodoWrite"})
_OFF = frozenset({"0", "false"})
_ON = frozenset({"1", "true"})
_LAST_WITH_LISTS = 4
_VERSION = re.compile(r"-(\d{1,2})(?:-|$)")


def without_lists(settings: Settings) -> frozenset[str]:
    """The tools for lists that the session does not offer."""
    environ = settings.environ
    todos = environ.get("CLAUDE_CODE_ENABLE_TASKS") in _OFF
    left_out = _TASKS if todos else _TODOS
    wanted = environ.get("CLAUDE_CODE_ENABLE_TODO_TOOLS") in _ON
    if wanted or not _plans_by_itself(find_model(settings.model.name, environ).name):
        return left_out
    named = {each.rule.tool for each in settings.policy.of("allow")}
    return left_out | ((_TASKS | _TODOS) - named)


def _plans_by_itself(model: str) -> bool:
    """Whether a model keeps track of its work without a list."""
    found = _VERSION.search(model)
    return found is not None and int(found[1]) > _LAST_WITH_LISTS
