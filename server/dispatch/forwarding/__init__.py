"""The door to machines on other nodes: what leaves for them, and what comes from there."""
