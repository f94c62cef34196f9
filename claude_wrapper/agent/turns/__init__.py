"""A turn: from prompts to a result."""
