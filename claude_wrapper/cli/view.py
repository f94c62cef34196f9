"""What every way of showing a run can do."""

from __future__ import annotations

import sys
from types import TracebackType

from claude_wrapper.messages import Message, UnknownMessage

from .ending import Ending
from .printable import printable

__all__ = ["View"]


class View:
    """Shows a run. A context, since a view may have to give the terminal back; this one shows only notes."""

    wants_pieces = False
    """Whether it shows replies while they are being written."""

    def __enter__(self) -> View:  # noqa: PYI034  # typing.Self is newer than 3.10
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        pass

    def show(self, message: Message | UnknownMessage) -> None:
        """Show a message of the run."""

    def note(self, text: str) -> None:
        """Show a sentence of our own."""
        print(printable(text), file=sys.stderr, flush=True)

    def end(self, ending: Ending) -> None:
        """Show how the run ended. Failures are told by somebody else, on stderr."""
