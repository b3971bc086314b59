"""The parent of several nodes on one port: ``farhand serve --workers N``."""
