"""The process that a server is: its log, its memory, its event loop, and what it lacks to run."""
