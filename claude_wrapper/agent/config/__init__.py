"""Settings files: where they are, what they may say, whom they bind, and how they are changed."""
