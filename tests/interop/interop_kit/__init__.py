"""One scenario, played by several pairs of SDK and agent, and the pairs compared."""
