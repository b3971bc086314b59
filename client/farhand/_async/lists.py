"""Lists of any length, read page by page."""

from collections.abc import AsyncIterator, Mapping
from typing import Any, TypeVar

from farhand._async.connection import AsyncConnection
from farhand.types import Answer, Page

Item = TypeVar("Item", bound=Answer)

PAGE = 1000
"""The most things that the server lists in one answer."""

OVERLAP = 10
"""So many may be removed between two pages before anything is missed."""


class AsyncLists:
    """Reads lists by a connection."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def items(
        self, model: type[Item], path: str, query: Mapping[str, Any], limit: int | None
    ) -> AsyncIterator[Item]:
        """The items one after another: all, or the first ``limit``."""
        async for page in self.pages(path, query, limit):
            for item in page["items"]:
                yield self._connection.checked(model, item)

    async def page(
        self, model: type[Item], path: str, query: Mapping[str, Any], skip: int, limit: int
    ) -> Page[Item]:
        """One part of a list, as the server has it."""
        reply = await self._connection.send(
            "GET", path, query={**query, "skip": skip, "limit": limit}
        )
        return self._connection.parsed(Page[model], reply)  # type: ignore[valid-type]

    async def pages(
        self, path: str, query: Mapping[str, Any], limit: int | None
    ) -> AsyncIterator[dict[str, Any]]:
        """A list's parts; what moves from one to another meanwhile is neither missed nor repeated.

        Each is the server's answer with the items that were not in one before.
        """
        seen: set[str] = set()
        skip, size = 0, min(PAGE, limit or PAGE)
        while True:
            asked = {**query, "limit": size, "skip": skip}
            reply = await self._connection.send("GET", path, query=asked)
            try:
                page = reply.json
                listed, total = page["items"], page["total"]
                new = [item for item in listed if item_id(item) not in seen]
            except (ValueError, KeyError, TypeError, AttributeError):
                raise self._connection.stranger(reply) from None
            if limit is not None:
                new = new[: limit - len(seen)]
            seen |= {item_id(item) for item in new}
            end = skip + len(listed)
            yield {**page, "items": new}
            if not listed or end >= total or (limit is not None and len(seen) >= limit):
                return
            # What is removed draws forward what comes after it.
            skip = max(skip + 1, end - OVERLAP)


def item_id(item: dict[str, Any]) -> str:
    """What tells an item of a list from others."""
    for name in ("id", "command_id", "number"):
        if name in item:
            return str(item[name])
    # A machine has one trouble of a kind at a time.
    return str((item["kind"], item["since"]))
