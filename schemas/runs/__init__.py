"""Runs: an approved trajectory is done again, step by step, on a machine of its turn."""
