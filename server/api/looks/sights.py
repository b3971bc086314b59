"""What a wait looks for on a screen, checked and fetched before anybody waits for it."""

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Sequence
from typing import Final

from schemas.http import problems
from schemas.http.problems import InvalidRequestError, ProblemError
from schemas.inputs.sights import MAX_SHOWN_PICTURE_BYTES, PictureShown, TextShown
from schemas.inputs.waits import Condition
from schemas.resources.stored_pictures import is_picture_id
from schemas.resources.tokens import Scope
from server.api.machines.asking import AskingHandler
from server.vision.picture_sizes import NoPictureError, size_of
from server.vision.vision import why_missing

MOST_SIDE: Final = 1024
MOST_AREA: Final = 256 * 1024
"""Pixels of a picture that is looked for: a large dialogue."""

Loc = tuple[str, ...]


async def sought(
    handler: AskingHandler, conditions: tuple[Condition, ...], loc: Loc
) -> tuple[Condition, ...]:
    """The conditions with their pictures; ``loc`` is where they stand.  Raises what is answered."""
    return (await all_sought(handler, [(conditions, loc)]))[0]


async def all_sought(
    handler: AskingHandler, waits: Sequence[tuple[tuple[Condition, ...], Loc]]
) -> list[tuple[Condition, ...]]:
    """The same for all waits of a request, whose pictures have a bound together."""
    room = _Room(MAX_SHOWN_PICTURE_BYTES)
    return [
        tuple(
            [
                await _sought(handler, each, (*loc, str(number), "picture"), room)
                for number, each in enumerate(conditions)
            ]
        )
        for conditions, loc in waits
    ]


def check_vision(handler: AskingHandler) -> None:
    """Raise a problem where this server does not look for anything."""
    if not handler.services.machines.vision.is_installed:
        raise ProblemError(problems.NOT_INSTALLED, why_missing())


class _Room:
    """How many bytes further pictures may have."""

    def __init__(self, left: int) -> None:
        self.left = left


async def _sought(handler: AskingHandler, condition: Condition, loc: Loc, room: _Room) -> Condition:
    if not isinstance(condition, TextShown | PictureShown):
        return condition
    check_vision(handler)
    if isinstance(condition, TextShown):
        return condition
    picture = await _picture(handler, condition.picture, loc)
    room.left -= len(picture)
    _check_size(picture, loc, room)
    return condition.model_copy(update={"picture": b64encode(picture).decode()})


async def _picture(handler: AskingHandler, given: str, loc: Loc) -> bytes:
    """The bytes of a picture that was given as it is, or by its id."""
    if not is_picture_id(given):
        try:
            return b64decode(given, validate=True)
        except Base64Error:
            raise _invalid(loc, "must be a picture's id, or a picture in Base64") from None
    handler.principal.require(Scope.TRAJECTORIES_READ)
    reach = handler.services.machines.reach
    found = None
    if await reach.has_picture(handler.principal, given):
        found = await handler.services.library.pictures.get(handler.organization_id, given)
    if found is None:
        raise _invalid(loc, "there is no picture with this id")
    return found[1]


def _check_size(picture: bytes, loc: Loc, room: _Room) -> None:
    """Look at what a picture says of itself, before anybody unpacks it."""
    if room.left < 0:
        raise _invalid(
            loc, f"all pictures of a request together have {MAX_SHOWN_PICTURE_BYTES} bytes at most"
        )
    try:
        width, height = size_of(picture)
    except NoPictureError as error:
        raise _invalid(loc, f"must be a PNG or JPEG picture: {error}") from None
    if max(width, height) > MOST_SIDE or width * height > MOST_AREA:
        raise _invalid(
            loc,
            f"it has {width} x {height} pixels, and may have {MOST_SIDE} a side and {MOST_AREA} "
            "together: cut out what matters",
        )


def _invalid(loc: Loc, message: str) -> InvalidRequestError:
    return InvalidRequestError.single(loc, message, "picture_invalid")
