"""The programs that a server brings and starts: installed, watched, and gone with it."""
