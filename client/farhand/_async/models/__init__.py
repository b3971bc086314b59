"""The vendors' computer tools; ``_sync`` is made of it by ``client/unasync.py``."""
