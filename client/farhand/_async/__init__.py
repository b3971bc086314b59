"""The client, asynchronous; ``_sync`` is made of it by ``client/unasync.py``."""
