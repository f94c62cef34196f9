"""Putting the parts of a session together."""
