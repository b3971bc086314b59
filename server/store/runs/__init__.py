"""Runs as they are stored: made once, claimed by one node at a time, written by it alone."""
