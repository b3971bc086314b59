"""Keeps the machine client running in its user's graphical session, as each system does that."""
