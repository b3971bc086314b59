"""The elements of one machine's screen: what its programs tell of buttons, fields and the like."""

from typing import Any

from farhand import actions
from farhand._async.connection import AsyncConnection
from farhand.actions import Action, Meant
from farhand.errors import ElementAmbiguous, ElementMissing
from farhand.types import Element, Elements, InputResult

_TWO = 2
"""As many as tell that it is not one."""


class AsyncElementWork:
    """What a machine does by elements; ``computer`` is its address."""

    def __init__(self, connection: AsyncConnection, computer: str) -> None:
        self._connection = connection
        self._elements = f"{computer}/elements"

    async def do(
        self, action: Action, *, key: str | None = None, timeout: float | None = None
    ) -> InputResult:
        """Carry out one input."""
        raise NotImplementedError

    async def elements(
        self,
        *,
        role: str | None = None,
        name: str | None = None,
        text: str | None = None,
        window: str | None = None,
        at: tuple[int, int] | None = None,
        limit: int | None = None,
        depth: int | None = None,
        timeout: float | None = None,
    ) -> Elements:
        """What elements there are, from the outside to the inside.

        ``name`` and ``window`` are globs, as in :func:`farhand.actions.element`.  ``at`` is a
        place: then it is the innermost one there.  ``limit`` is how many at most, ``depth`` how
        deep below a window.
        """
        query = {
            "role": role,
            "name": name,
            "text": text,
            "window": window,
            "at": None if at is None else ",".join(map(str, at)),
            "limit": limit,
            "depth": depth,
        }
        reply = await self._connection.send("GET", self._elements, query=query, timeout=timeout)
        return self._connection.parsed(Elements, reply)

    async def element(
        self,
        role: str | None = None,
        name: str | None = None,
        *,
        text: str | None = None,
        window: str | None = None,
        timeout: float | None = None,
    ) -> Element:
        """The one element that is like this.

        Raises :class:`farhand.ElementMissing` where none is, and :class:`farhand.ElementAmbiguous`
        where several are, as an input does that names it.
        """
        sought: dict[str, Any] = {"role": role, "name": name, "text": text, "window": window}
        found = await self.elements(**sought, limit=_TWO, timeout=timeout)
        if len(found.items) == 1:
            return found.items[0]
        asked = ", ".join(f"{field} {said!r}" for field, said in sought.items() if said is not None)
        if found.items:
            raise ElementAmbiguous.told("Several elements are like this", asked)
        raise ElementMissing.told("The element is not there", asked)

    async def invoke(
        self, element: Meant, *, key: str | None = None, timeout: float | None = None
    ) -> InputResult:
        """Have an element do what it is there for: see :func:`farhand.actions.invoke`."""
        return await self.do(actions.invoke(element), key=key, timeout=timeout)

    async def set_value(
        self,
        element: Meant,
        value: str | float,
        *,
        key: str | None = None,
        timeout: float | None = None,
    ) -> InputResult:
        """Put a text into a field, or a number into a slider: no key is pressed."""
        return await self.do(actions.set_value(element, value), key=key, timeout=timeout)

    async def focus(
        self, element: Meant, *, key: str | None = None, timeout: float | None = None
    ) -> InputResult:
        """Put the keyboard's focus on an element."""
        return await self.do(actions.focus(element), key=key, timeout=timeout)
