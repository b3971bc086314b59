"""Asking a person before a model's turn is carried out."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

Call = TypeVar("Call")

Confirm = Callable[[Call], bool]
"""Says whether a call may be carried out, with ``True`` and nothing else."""
AsyncConfirm = Callable[[Call], Awaitable[bool]]
"""As Confirm, for asyncio."""
