"""Bare systems, on which the README's two commands are tried: ``make test-systems``."""
