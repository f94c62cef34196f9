"""The processes that the agent starts: from their start to their end, whichever way it comes."""
