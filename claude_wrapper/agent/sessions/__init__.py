"""A session: its conversation, its transcript, and how it begins or goes on."""
