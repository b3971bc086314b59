"""The process that a server is: its log, its memory, and what is missing to run it."""
