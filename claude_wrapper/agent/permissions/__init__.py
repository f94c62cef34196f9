"""May this tool call run? A pure decision from rules, mode and what the call would really do."""
