"""Flags of programs with a screen: accepted where they change nothing, refused where they ask for what we are not."""

from __future__ import annotations

from .flags import FLAGS, Flag

__all__ = ["BY_NAME", "FOREIGN", "foreign_refusal"]

FOREIGN = (
    Flag("--ide", "ide", "switch", "connect to an editor"),
    Flag("--chrome", "chrome", "switch", "work with a browser"),
    Flag("--no-chrome", "no_chrome", "switch", "work without a browser"),
    Flag("--brief", "brief", "switch", "short messages on a screen"),
    Flag("--ax-screen-reader", "screen_reader", "switch", "a screen for readers"),
    Flag("--from-pr", "from_pr", "maybe", "a session of a pull request", "value"),
    Flag("--remote-control", "remote_control", "maybe", "be steered from elsewhere", "name"),
    Flag(
        "--remote-control-session-name-prefix",
        "remote_prefix",
        "value",
        "the name to be seen under",
        "prefix",
    ),
    Flag("--plugin-url", "plugin_urls", "each", "plugins to fetch", "url"),
    Flag("--bg --background", "background", "switch", "run as a job of its own"),
    Flag("--cloud", "cloud", "maybe", "run elsewhere", "value"),
    Flag("--teleport", "teleport", "maybe", "fetch a session from elsewhere", "session"),
    Flag("--tmux", "tmux", "switch", "run in a terminal session"),
    Flag("-w --worktree", "worktree", "maybe", "work in a new worktree", "name"),
    Flag("--desktop", "desktop", "switch", "open an application"),
    Flag("--environment", "environment", "value", "where to run", "id"),
    Flag("--file", "files", "many", "files to fetch", "specs..."),
)
"""Hosts and scripts pass them on, so they are known; help does not list them."""

_REFUSALS = {
    "background": "--bg needs an interactive session, which this agent does not have",
    "cloud": "Error: --cloud runs sessions on another machine, which this agent does not do",
    "teleport": "--teleport fetches sessions from another machine, which this agent does not do",
    "tmux": "Error: --tmux needs an interactive session, which this agent does not have",
    "worktree": "Error: --worktree is not served: make one with `git worktree add` and start the agent in it",
    "desktop": "--desktop opens an application, which this agent does not have",
    "environment": "Error: --environment chooses another machine, which this agent does not do",
    "files": "Error: --file fetches files from a service that this agent does not know",
}

BY_NAME = {name: flag for flag in (*FLAGS, *FOREIGN) for name in flag.names.split()}


def foreign_refusal(given: set[str]) -> str | None:
    """Why these flags keep a run from starting; None if they do not."""
    return next((text for field, text in _REFUSALS.items() if field in given), None)
