"""Commands beside the answering of prompts: `mcp …`, `auth …`, `doctor` and their like."""
