"""Session transcripts on disk: where they are, what their lines are, how they are written and read."""
