# Made of farhand/_async by client/unasync.py: change it there.
"""The vendors' computer tools; made of ``_async``."""
