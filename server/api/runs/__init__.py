"""Handlers of runs."""
