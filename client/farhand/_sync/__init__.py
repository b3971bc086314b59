# Made of farhand/_async by client/unasync.py: change it there.
"""The client, synchronous; made of ``_async``."""
