"""What freezes the agent and packs it into wheels; the programs are `build_agent.py` and `build_wheel.py`."""
