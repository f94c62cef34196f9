"""Subagents: what they are defined as, how they are started, and what is told of them."""
