"""Who may see the machines here: the one place where it is asked, for as long as a look takes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from server.dispatch.refusals import RefusedError, private
from server.machines.privacy import PrivateError
from server.machines.socket import LinkSocket


@asynccontextmanager
async def looking(link: LinkSocket, looker: str, since: int | None = None) -> AsyncIterator[None]:
    """Within it, somebody sees the machine of a link.

    Raises RefusedError where somebody else has private control of it, from its begin to its end;
    with ``since`` (ms since 1970) also where somebody had at any time from then on.
    """
    try:
        async with link.privacy.look(looker):
            if since is not None:
                link.privacy.check_since(since, looker)
            yield
    except PrivateError as error:
        raise RefusedError(private(error.by, error.since)) from None
