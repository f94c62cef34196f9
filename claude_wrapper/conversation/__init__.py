"""One running conversation with an agent: reading, callbacks, turns and the wiring of them."""
