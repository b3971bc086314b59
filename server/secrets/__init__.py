"""Secrets at rest: encrypted with a key that is not in the database."""
