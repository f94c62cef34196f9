"""The host at the other end: what it sends, what is asked of it, and how it stops a turn."""
