"""What the test kit raises."""

from __future__ import annotations

from claude_wrapper.errors import ClaudeSDKError

__all__ = ["ReplayError", "ScriptError", "ScriptTimeoutError"]


class ScriptError(ClaudeSDKError):
    """A script is wrong, or what happened is not what it foresaw."""


class ScriptTimeoutError(ScriptError, TimeoutError):
    """Something that a test waited for did not happen in time."""


class ReplayError(ScriptError):
    """A program does not do what it did when it was recorded; the text says what is different."""
