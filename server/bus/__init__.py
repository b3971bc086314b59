"""Carries messages between the nodes of one installation: over NATS, or within one process."""
