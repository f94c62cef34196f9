"""Hooks: which of them an event concerns, asking them all at once, and what their answers come to."""
