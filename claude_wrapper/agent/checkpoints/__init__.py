"""Checkpoints: the state of the files that tools change, as it was at each prompt, and the way back to it."""
