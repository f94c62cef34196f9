"""The link between the two programs: a symmetric control peer over a byte channel."""
