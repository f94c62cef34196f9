"""The host's control requests, and their answers."""
