"""Tool calls: which tools there are, whether a call may run, and what becomes of it."""
