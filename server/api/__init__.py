"""REST handlers: declarations of operations, authentication, validation, answers."""
