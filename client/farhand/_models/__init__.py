"""What the computer tools of all vendors have in common, and each vendor's table of actions.

It is plain: no I/O, no SDK.  `_async.models` and `_sync.models` do the rest.
"""
