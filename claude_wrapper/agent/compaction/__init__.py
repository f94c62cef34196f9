"""Making room: the older part of a conversation gives way to a summary of it."""
