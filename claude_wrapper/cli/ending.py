"""How a run ended, and the exit code that follows from it."""

from __future__ import annotations

import errno
import signal
from dataclasses import dataclass

from claude_wrapper.errors import ClaudeSDKError, OptionsError, ResultError
from claude_wrapper.messages import AssistantMessage, Message, ResultMessage, SystemMessage, UnknownMessage

from .exits import Exit, by_signal

__all__ = ["Ending"]


@dataclass
class Ending:
    """What is known about a run; filled while it goes on."""

    result: ResultMessage | None = None
    error: ClaudeSDKError | None = None
    """What the library raised; never a ResultError, since `result` says the same."""
    has_begun: bool = False
    """Whether the agent was ready for the prompt."""
    session_id: str = ""
    signal: int | None = None
    """The signal that was sent to end the run."""
    is_timed_out: bool = False
    output_error: OSError | None = None
    """Why nothing could be written any more."""
    is_unauthenticated: bool = False

    def take(self, message: Message | UnknownMessage) -> None:
        """Learn from a message."""
        if isinstance(message, ResultMessage):
            self.result = message
            self.is_unauthenticated |= message.api_error_status == 401
        elif isinstance(message, AssistantMessage):
            self.is_unauthenticated |= message.error == "authentication_failed"
        known = message.data.get("session_id") if isinstance(message, SystemMessage) else None
        self.session_id = known or getattr(message, "session_id", None) or self.session_id

    def fail(self, error: ClaudeSDKError) -> None:
        """Learn from what the library raised."""
        if not (isinstance(error, ResultError) and self.result is not None):
            self.error = error

    @property
    def is_cut_short(self) -> bool:
        """Whether somebody or the clock ended the run."""
        return self.signal is not None or self.is_timed_out

    @property
    def lacks_credentials(self) -> bool:
        """Whether there was nothing to show to the API, as opposed to something it refused."""
        refused = self.result is not None and self.result.api_error_status is not None
        return self.is_unauthenticated and not refused

    @property
    def exit_code(self) -> int:
        """The exit code of a command that ran this."""
        if self.output_error is not None:
            closed = isinstance(self.output_error, BrokenPipeError) or self.output_error.errno == errno.EPIPE
            return Exit.OUTPUT_CLOSED if closed else Exit.OUTPUT_FAILED
        if self.signal is not None:
            return by_signal(self.signal)
        if self.is_timed_out:
            return Exit.TIMED_OUT
        if self.error is not None:
            return self._code_of_error(self.error)
        if self.result is None:
            return Exit.AGENT_DIED
        if not self.result.is_error:
            return Exit.SUCCESS
        return Exit.NOT_AUTHENTICATED if self.is_unauthenticated else Exit.ERROR_RESULT

    def _code_of_error(self, error: ClaudeSDKError) -> Exit:
        if isinstance(error, OptionsError):
            return Exit.USAGE
        return Exit.AGENT_DIED if self.has_begun else Exit.NOT_STARTED

    @property
    def signal_name(self) -> str:
        """The name of the signal, for texts."""
        return "" if self.signal is None else signal.Signals(self.signal).name
