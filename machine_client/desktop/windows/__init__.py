"""A session of Windows: inputs by ``SendInput``, what became of them read back, pictures by GDI.

Nothing here was seen on a real Windows: it is tested under Wine, and
docs/design/windows-tests.md says what that cannot show.
"""
