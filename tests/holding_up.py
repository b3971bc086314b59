"""Holds up what the product does, so that something else happens first."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest


@dataclass
class HeldUp:
    """Something that the database takes its time for."""

    is_asked: asyncio.Event = field(default_factory=asyncio.Event)
    may_begin: asyncio.Event = field(default_factory=asyncio.Event)


@contextmanager
def held_up(owner: type, method: str) -> Iterator[HeldUp]:
    """A method that begins when that is said, or at the end."""
    real, held = getattr(owner, method), HeldUp()

    async def late(*arguments: Any, **named: Any) -> Any:
        held.is_asked.set()
        await held.may_begin.wait()
        return await real(*arguments, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, method, late)
        try:
            yield held
        finally:
            held.may_begin.set()
