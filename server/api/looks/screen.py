"""What a machine's screen shows: one picture, a live stream of them, its displays, its pointer."""

import asyncio
import time
from contextlib import suppress
from hashlib import blake2b
from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator
from tornado.iostream import StreamClosedError

from schemas.http import problems
from schemas.http.entity_tags import ReadHeaders
from schemas.http.problems import ProblemError
from schemas.http.queries import QueryBool
from schemas.inputs.outcomes import Point
from schemas.inputs.pictures import PictureWanted, check_shows_one_thing
from schemas.link.messages import Display
from schemas.link.picture_frames import Picture
from schemas.link.screen_options import LiveOptions
from schemas.resources.machines import Dimensions
from schemas.resources.tokens import Scope
from schemas.values.pictures import MAX_PICTURE_SIDE, PictureFormat, Region
from schemas.values.strict import StrictModel
from server.api.looks.areas import AreaText, area_of
from server.api.machines.answers import problem_of
from server.api.machines.asking import AskingHandler
from server.api.machines.paths import MachinePath
from server.dispatch.command import Sender
from server.dispatch.dispatcher import Watch
from server.dispatch.here.screens import LiveScreen
from server.dispatch.looks import LookedAt
from server.dispatch.questions.screens import LookAtDesktop, PictureTaken, TakeScreenshot
from server.dispatch.refusals import RefusedError
from server.errors import StoreUnavailable
from server.web.closing import close_connection
from server.web.endpoint import Endpoint

REPEAT_SECONDS = 45.0
"""After which an unchanged picture is sent again: many proxies cut who is silent for 60."""
ALIVE_SECONDS = 2.0
"""After which a viewer who hears nothing hears a line, so that a still picture is no silence."""
SLOW_SECONDS = 30.0
"""For a reader to take one picture; after that the connection is closed."""
CHECK_SECONDS = 0.5
BOUNDARY = "farhand-picture"

Side = Annotated[int, Field(ge=1, le=MAX_PICTURE_SIDE)]


class PictureQuery(StrictModel):
    """How large and how fine a picture should be; its aspect is kept, and it is not enlarged."""

    width: Side | None = Field(None, description="At most so many pixels; the screen's own.")
    height: Side | None = Field(None, description="At most so many pixels; the screen's own.")


class ScreenshotQuery(PictureQuery):
    """One picture: of all displays, of one of them, or of a part of the desktop."""

    format: PictureFormat = "png"
    quality: Annotated[int, Field(ge=1, le=95)] = Field(80, description="Of JPEG and WebP.")
    region: Annotated[AreaText | None, BeforeValidator(area_of)] = Field(
        None, description="x,y,width,height: only this part of the desktop, in its pixels."
    )
    display: Annotated[int, Field(ge=0, le=63)] | None = Field(
        None, description="Only this display, by its place in the list of the dimensions, from 0."
    )
    pointer: QueryBool = Field(True, description="Whether the mouse pointer is on it.")

    @property
    def wanted(self) -> PictureWanted:
        """The same for the machine."""
        return PictureWanted.model_construct(**self.__dict__)

    _shows_one_thing = model_validator(mode="after")(check_shows_one_thing)


class StreamQuery(PictureQuery):
    """Pictures as the screen changes."""

    quality: Annotated[int, Field(ge=1, le=95)] = Field(70, description="Of JPEG.")
    rate: Annotated[float, Field(gt=0, le=30, allow_inf_nan=False)] = Field(
        10, description="Pictures a second, at most; the machine may have a lower bound."
    )


PICTURE_HEADERS = {
    "Farhand-Screen-Region": "x,y,width,height: what the picture shows, in input coordinates.",
    "Farhand-Picture-Size": "width,height: the picture's own pixels.",
}
PROBLEMS = (problems.NOT_FOUND, problems.MACHINE_BUSY, problems.MACHINE_UNAVAILABLE)


class ScreenshotHandler(AskingHandler):
    @Endpoint(
        summary="Take a screenshot",
        description="The desktop as it is now, scaled on the machine.  With If-None-Match, 304 as "
        "long as it looks the same.",
        scope=Scope.SCREEN_READ,
        path=MachinePath,
        query=ScreenshotQuery,
        headers=ReadHeaders,
        answers={200: None, 304: None},
        media_type="image/*",
        problems=PROBLEMS,
        answer_headers={**PICTURE_HEADERS, "ETag": "Of what it shows and how."},
    )
    async def get(self, path: MachinePath, query: ScreenshotQuery, headers: ReadHeaders) -> None:
        picture = await self.look(
            TakeScreenshot(**self.looking_at(path.machine_id), wanted=query.wanted),
            LookedAt.SCREEN,
        )
        tag = _tag_of(picture)
        self.set_header("ETag", tag)
        for name, value in described(picture).items():
            self.set_header(name, value)
        self.set_header("X-Content-Type-Options", "nosniff")
        if headers.if_none_match is not None and headers.if_none_match.name(tag):
            self.answer(304)
        else:
            self.answer_bytes(200, picture.content, f"image/{picture.format}")


def _tag_of(picture: PictureTaken) -> str:
    """Equal for equal pixels: machines encode them the same way each time."""
    seen = blake2b(picture.content, digest_size=16)
    seen.update(repr((*picture.region, *picture.size)).encode())
    return f'"{seen.hexdigest()}"'


class DimensionsHandler(AskingHandler):
    @Endpoint(
        summary="Get the display dimensions",
        description="As they are now, in the pixels that inputs use.",
        scope=Scope.SCREEN_READ,
        path=MachinePath,
        answers={200: Dimensions},
        problems=PROBLEMS,
    )
    async def get(self, path: MachinePath) -> None:
        seen = await self.ask(LookAtDesktop(**self.looking_at(path.machine_id)))
        self.answer(200, dimensions(seen.displays))


class PointerHandler(AskingHandler):
    @Endpoint(
        summary="Get the pointer position",
        scope=Scope.SCREEN_READ,
        path=MachinePath,
        answers={200: Point},
        problems=PROBLEMS,
    )
    async def get(self, path: MachinePath) -> None:
        seen = await self.ask(LookAtDesktop(**self.looking_at(path.machine_id)))
        self.answer(200, seen.pointer)


STREAM = Endpoint(
    summary="Watch the live screen",
    description="JPEG pictures as the screen changes, each with Content-Length, the headers of a "
    "screenshot and Farhand-Captured-At (milliseconds since 1970).  While none comes, a line "
    "Farhand-Alive (the server's time), of the next one's head, is sent every 2 s.  All viewers of "
    "a machine share one capture: each gets the largest size, the finest quality and the highest "
    "rate that any of them asked for, but never more pictures than its own rate.",
    scope=Scope.SCREEN_READ,
    path=MachinePath,
    query=StreamQuery,
    answers={200: None},
    media_type="multipart/x-mixed-replace",
    problems=(*PROBLEMS, problems.TOO_MANY_STREAMS),
    endless=True,
)


class StreamHandler(AskingHandler):
    """A live screen, until the viewer leaves, the link ends or the token is revoked."""

    screen: LiveScreen | None = None
    _look: tuple[Sender, str, LookedAt]

    @STREAM
    async def get(self, path: MachinePath, query: StreamQuery) -> None:
        watch = Watch(
            **self.looking_at(path.machine_id),
            options=LiveOptions(query.width, query.height, query.quality, query.rate),
            name=self.principal.token_name,
        )
        self.services.machines.looks.check_room()
        self._look = self.sender(None), path.machine_id, LookedAt.SCREEN
        screen = self.screen = await self.ask(watch)
        checking = self.services.background.start_and_report(self._check(screen), "check a viewer")
        try:
            await self._show(screen, await self._first(screen))
        finally:
            checking.cancel()
            screen.close()

    def on_connection_close(self) -> None:
        """The viewer has gone away."""
        super().on_connection_close()
        if self.screen is not None:
            self.screen.end("the viewer has left")

    async def _first(self, screen: LiveScreen) -> Picture:
        """Without a picture there is no stream, but a problem that says why."""
        try:
            return await screen.first()
        except RefusedError as error:
            if screen.why_over is not None:
                # Where the token was revoked meanwhile, that is the answer.
                await self.authorize(STREAM)
            raise problem_of(error.refusal) from None

    async def _check(self, screen: LiveScreen) -> None:
        """End the stream soon after the caller may no longer see it, or the server stops."""
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            self.services.machines.looks.still_looks(*self._look)
            try:
                await self.authorize(STREAM)
            except ProblemError as error:
                screen.end(error.detail)
            except StoreUnavailable:
                continue  # Nobody can revoke anything now either; the next look tells.
            except Exception:
                screen.end("the server could not check whether this may still be seen")
                raise
            if self.services.operation.leaving:
                screen.end("the server is stopping")

    async def _show(self, screen: LiveScreen, picture: Picture) -> None:
        self.set_header("Content-Type", f"multipart/x-mixed-replace; boundary={BOUNDARY}")
        self.set_header("X-Content-Type-Options", "nosniff")
        # nginx would else gather pictures until its buffers are full.
        self.set_header("X-Accel-Buffering", "no")
        if self.request.method == "HEAD":
            await self.finish_after_headers()
            return
        self.write(f"--{BOUNDARY}\r\n".encode())
        loop, looks = asyncio.get_running_loop(), self.services.machines.looks
        # A viewer who is gone is nobody who could be told.
        with suppress(StreamClosedError):
            while screen.why_over is None:
                began_at = loop.time()
                self.write(part_of(picture))
                looks.looked(*self._look)
                await self._written(screen)
                # A little less, so that a picture that comes a moment early is not left out.
                due_at = began_at + 0.9 / screen.rate
                picture = await self._next(screen, due_at) or picture
            self.finish()

    async def _next(self, screen: LiveScreen, due_at: float) -> Picture | None:
        """The next picture, not before it is due; None where the one before is to be repeated.

        Meanwhile the viewer hears that there is somebody: lines that belong to the head of the part
        to come, so that whoever knows nothing of them reads on as before.
        """
        loop = asyncio.get_running_loop()
        repeat_at = max(due_at, loop.time()) + REPEAT_SECONDS
        while screen.why_over is None and (now := loop.time()) < repeat_at:
            if now < due_at:
                await screen.pause(min(due_at - now, ALIVE_SECONDS))
            elif picture := await screen.next(min(repeat_at - now, ALIVE_SECONDS)):
                return picture
            if loop.time() - now >= 0.9 * ALIVE_SECONDS and screen.why_over is None:
                self.write(f"Farhand-Alive: {time.time_ns() // 1_000_000}\r\n".encode())
                await self._written(screen)
        return None

    async def _written(self, screen: LiveScreen) -> None:
        """Wait until the viewer has taken a picture; it may be slow, but not for ever."""
        give_up_at = asyncio.get_running_loop().time() + SLOW_SECONDS
        writing = self.flush()
        while not writing.done():
            await asyncio.wait((writing,), timeout=CHECK_SECONDS)
            too_slow = asyncio.get_running_loop().time() > give_up_at
            if not writing.done() and (too_slow or screen.why_over is not None):
                close_connection(self.request)
        await writing


def described(picture: Picture | PictureTaken) -> dict[str, str]:
    """The headers that say what a picture shows."""
    return {
        "Farhand-Screen-Region": ",".join(map(str, picture.region)),
        "Farhand-Picture-Size": ",".join(map(str, picture.size)),
    }


def part_of(picture: Picture) -> bytes:
    """A part of a stream, and the boundary after it, without which browsers do not show it."""
    headers = {
        "Content-Type": f"image/{picture.format}",
        "Content-Length": str(len(picture.content)),
        **described(picture),
        "Farhand-Captured-At": str(picture.captured_at),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return b"".join((head.encode(), b"\r\n", picture.content, f"\r\n--{BOUNDARY}\r\n".encode()))


def dimensions(displays: list[Display]) -> Dimensions:
    """The smallest rectangle around all displays, and each of them."""
    return Dimensions(**Region.around(displays)._asdict(), displays=displays)
