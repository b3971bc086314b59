"""Handlers of what machines are put together under, and of changes to many of them."""
