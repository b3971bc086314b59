"""Pictures that steps refer to: sent once, read by whoever reads the trajectory."""

from datetime import timedelta

from pydantic import BaseModel

from schemas.http import problems
from schemas.http.entity_tags import ReadHeaders
from schemas.http.problems import InvalidRequestError, ProblemError
from schemas.resources.stored_pictures import (
    PictureOutlook,
    PictureOutlookQuery,
    StoredPicture,
    media_type_of,
)
from schemas.resources.tokens import Scope
from schemas.values.pictures import PictureId
from server.web.auditing import record
from server.web.bodies.incoming import content_type_of, wrong_media_type
from server.web.endpoint import Endpoint
from server.web.handler import ApiHandler
from server.web.streaming import StreamingHandler, cut

MAX_PICTURE_BYTES = 12 * 1024 * 1024
MEDIA_TYPES = ("image/png", "image/jpeg")


class PicturePath(BaseModel):
    """Names a picture."""

    picture_id: PictureId


ADD = Endpoint(
    summary="Keep a picture",
    description="The same bytes are kept once: 201 the first time, 200 from then on.  A step "
    'refers to it by its id, as in {"picture": "<id>"}.',
    scope=Scope.TRAJECTORIES_WRITE,
    raw_body=MEDIA_TYPES,
    answers={201: StoredPicture, 200: StoredPicture},
    max_body_bytes=MAX_PICTURE_BYTES,
)


class PicturesHandler(ApiHandler):
    @Endpoint(
        summary="Look at what becomes of pictures",
        description="How long pictures of trajectories are kept, what they take, and whose go "
        "next.  Those of approved trajectories stay.",
        scope=Scope.TRAJECTORIES_READ,
        query=PictureOutlookQuery,
        answers={200: PictureOutlook},
    )
    async def get(self, query: PictureOutlookQuery) -> None:
        within = timedelta(seconds=query.within)
        reach = await self.services.machines.reach.machines(self.principal)
        keeping = self.services.library.keeping
        self.answer(200, await keeping.outlook(self.organization_id, within, query, reach))

    @ADD
    async def post(self) -> None:
        media_type = media_type_of(self.request.body)
        given = content_type_of(self.request.headers)
        if given not in MEDIA_TYPES:
            raise wrong_media_type(ADD)
        if media_type is None or media_type != given:
            raise InvalidRequestError.single(("body",), f"must be {given}", "picture_invalid")
        stored, is_new = await self.services.library.pictures.add(
            self.organization_id, media_type, self.request.body
        )
        if is_new:
            await record(self, "picture.kept", stored.id)
        self.set_header("Location", f"/v1/pictures/{stored.id}")
        self.answer(201 if is_new else 200, stored)


class PictureHandler(StreamingHandler):
    async def _check_reach(self, picture_id: str) -> None:
        """Raise a problem where only recordings of machines out of the caller's reach have it."""
        if not await self.services.machines.reach.has_picture(self.principal, picture_id):
            raise _unknown(picture_id)

    @Endpoint(
        summary="Get a picture",
        description="What has this id never changes, so it may be kept for ever.",
        scope=Scope.TRAJECTORIES_READ,
        path=PicturePath,
        headers=ReadHeaders,
        answers={200: None, 304: None},
        media_type="image/*",
        problems=(problems.NOT_FOUND, problems.TOO_MANY_STREAMS),
        answer_headers={"ETag": "The id, in quotes."},
    )
    async def get(self, path: PicturePath, headers: ReadHeaders) -> None:
        await self._check_reach(path.picture_id)
        found = await self.services.library.pictures.get(self.organization_id, path.picture_id)
        if found is None:
            raise _unknown(path.picture_id)
        stored, content = found
        tag = f'"{stored.id}"'
        self.set_header("ETag", tag)
        self.set_header("Cache-Control", "private, max-age=31536000, immutable")
        # Whoever sent it may have put more into it than a picture.
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Content-Security-Policy", "default-src 'none'; sandbox")
        if headers.if_none_match is not None and headers.if_none_match.name(tag):
            self.answer(304)
        else:
            self.set_header("Content-Type", stored.media_type)
            self.set_header("Content-Length", len(content))
            await self.stream(cut(content))

    @Endpoint(
        summary="Delete a picture",
        description="Also one that steps refer to: it is then missing there.",
        scope=Scope.TRAJECTORIES_WRITE,
        path=PicturePath,
        answers={204: None},
        problems=(problems.NOT_FOUND,),
    )
    async def delete(self, path: PicturePath) -> None:
        await self._check_reach(path.picture_id)
        if not await self.services.library.pictures.delete(self.organization_id, path.picture_id):
            raise _unknown(path.picture_id)
        await record(self, "picture.deleted", path.picture_id)
        self.answer(204)


def _unknown(picture_id: str) -> ProblemError:
    return ProblemError(
        problems.NOT_FOUND,
        f"there is no picture {picture_id}: it was never sent here, was deleted, or has expired",
    )
