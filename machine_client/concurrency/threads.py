"""Threads that say in their log lines which machine they work for, as who starts them does."""

from collections.abc import Callable
from contextvars import copy_context
from threading import Thread


def daemon_thread(work: Callable[[], object], name: str) -> Thread:
    """A thread that is not started yet, in a copy of this context; a program can end beside it."""
    return Thread(target=copy_context().run, args=(work,), name=name, daemon=True)
