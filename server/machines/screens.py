"""Who looks at a machine's screen: many viewers, one capture, and everybody the newest picture.

Whoever asks for the elements on it asks here as well: their questions have numbers in common.
"""

import asyncio
from collections.abc import Callable
from uuid import UUID

from schemas.inputs.outcomes import Point
from schemas.inputs.pictures import PictureWanted
from schemas.inputs.selectors import Sought
from schemas.inputs.waits import Conditions
from schemas.link.element_messages import ElementsQuery, ElementsSeen
from schemas.link.messages import (
    ActionPicture,
    DesktopQuery,
    DesktopSeen,
    Look,
    LookStop,
    Screenshot,
    ScreenStart,
    ScreenStop,
    Seen,
)
from schemas.link.picture_frames import Picture
from schemas.link.screen_options import LiveOptions
from schemas.resources.machines import MAX_VIEWER_NAMES
from server.clock import server_time
from server.machines.link.errors import LinkBusyError, LinkDownError, LinkLostError
from server.machines.link.questions.screen import (
    DesktopArrived,
    ElementsArrived,
    LivePictureArrived,
    LiveScreenEnded,
    LookEnded,
    RequestRefused,
    ScreenArrival,
    ScreenQuestion,
    ScreenshotArrived,
)
from server.machines.privacy import NOBODY, Privacy, PrivateError
from server.tasks import at_most

MAX_OPEN_REQUESTS = 8
"""Questions about its screen that one machine may owe at once."""

MAX_OPEN_LOOKS = 4
"""Waits beside them, which take their time."""

MAX_OPEN_ELEMENTS = 4
"""Questions about elements beside both: a program that does not answer takes its time as well."""

ANSWER_SECONDS = 5.0
"""For a machine to say that a wait is over, after its time."""

_Answer = Picture | DesktopSeen | ElementsSeen | Seen


class ScreenUnavailableError(Exception):
    """The machine cannot show what was asked for; ``str()`` is its own reason.

    ``since`` is since when its screen cannot be seen (milliseconds since 1970), None for now.
    """

    def __init__(self, reason: str, since: int | None = None) -> None:
        super().__init__(reason)
        self.since = since


class NotOnScreenError(Exception):
    """The desktop does not have what was asked for: ``field`` is what, ``code`` what is wrong."""

    def __init__(self, reason: str, code: str, field: str) -> None:
        super().__init__(reason)
        self.code = code
        self.field = field


class Viewer:
    """One who looks at a live screen; whoever is slow skips to the newest picture.

    ``looker`` stands for them, as far as it is asked who may look.  For the viewers of another node
    with the same one it stands for all of them, and has all their names.
    """

    def __init__(
        self, screen: "MachineScreen", options: LiveOptions, names: tuple[str, ...], looker: str
    ) -> None:
        self.options = options
        self.names = names
        self.looker = looker
        self.why_over: str | None = None
        self.over_since: int | None = None
        self._hidden_by: PrivateError | None = None
        self._screen = screen
        self._something = asyncio.Event()
        self._over = asyncio.Event()

    async def pause(self, seconds: float) -> None:
        """Let so much time pass; less where there will be no further pictures."""
        if seconds > 0:
            await at_most(seconds, self._over.wait())

    async def next(self) -> Picture:
        """The newest picture, as soon as there is one that this viewer has not had.

        Raises ScreenUnavailableError where there will be none any more, and PrivateError where
        that is because somebody else alone may see it.
        """
        await self._something.wait()
        self._something.clear()
        if self._hidden_by is not None:
            self._something.set()
            raise self._hidden_by
        if self.why_over is not None or self._screen.newest is None:
            self._something.set()
            raise ScreenUnavailableError(self.why_over or "nobody knows why", self.over_since)
        return self._screen.newest

    def rename(self, names: tuple[str, ...]) -> None:
        """Others look at it now."""
        self.names = names
        self._screen.count_names()

    def notify(self) -> None:
        """There is a new picture."""
        self._something.set()

    def end(self, reason: str, since: int | None = None) -> None:
        """There will be no further pictures, which whoever waits is told."""
        if self.why_over is None:
            self.why_over, self.over_since = reason, since
        self._over.set()
        self._something.set()

    def hide(self, why: PrivateError) -> None:
        """There will be none, because somebody else alone may see the screen."""
        if self.why_over is None:
            self._hidden_by = why
        self.end(str(why), why.since)

    def close(self) -> None:
        """Stop looking; the last one to do so stops the machine's capture."""
        self.end("the viewer has left")
        self._screen.left(self)


class MachineScreen:
    """One machine's screen, by its link.

    ``ask`` sends a question on the link, ``is_up`` says whether the link takes any, and
    ``on_viewers_changed`` is told when others look at the live screen than before.
    ``viewer_names`` has each of their names once.
    """

    def __init__(
        self,
        ask: Callable[[ScreenQuestion], None],
        is_up: Callable[[], bool],
        on_viewers_changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._ask = ask
        self._is_up = is_up
        self._on_viewers_changed = on_viewers_changed
        self.viewer_names: tuple[str, ...] = ()
        self._viewers: dict[Viewer, None] = {}
        self._options: LiveOptions | None = None
        self._stream = 0
        self._request = 0
        self._waiting: dict[int, asyncio.Future[_Answer]] = {}
        self._looks: set[int] = set()
        self._element_questions: set[int] = set()
        self.newest: Picture | None = None

    @property
    def viewers(self) -> int:
        """How many look at the live screen."""
        return len(self._viewers)

    def watch(self, options: LiveOptions, *names: str, looker: str = NOBODY) -> Viewer:
        """Look at the live screen until the viewer is closed.  Raises LinkDownError.

        Whether the looker may is checked by whoever asks; from then on it is known here.
        """
        if not self._is_up():
            raise LinkDownError
        viewer = Viewer(self, options, names, looker)
        self._viewers[viewer] = None
        try:
            self._show()
        except BaseException:
            del self._viewers[viewer]
            raise
        self.count_names()
        if self.newest is not None:
            viewer.notify()
        return viewer

    def left(self, viewer: Viewer) -> None:
        """A viewer looks no more."""
        if self._viewers.pop(viewer, viewer) is None:
            self._show()
            self.count_names()

    def count_names(self) -> None:
        """Find out who looks at it now."""
        names = sorted({name for viewer in self._viewers for name in viewer.names})
        before, self.viewer_names = self.viewer_names, tuple(names[:MAX_VIEWER_NAMES])
        if self.viewer_names != before:
            self._on_viewers_changed()

    async def screenshot(self, wanted: PictureWanted, timeout: float) -> Picture:
        """A picture of the screen as it is now.

        Raises LinkDownError, LinkBusyError, LinkLostError, ScreenUnavailableError,
        NotOnScreenError, TimeoutError.
        """
        number = self._next_request()
        question = Screenshot(
            request=number,
            format=wanted.format,
            width=wanted.width,
            height=wanted.height,
            quality=wanted.quality,
            region=wanted.region,
            display=wanted.display,
            pointer=wanted.pointer,
            server_time=server_time(),
        )
        return _picture(await self._answer(number, question, timeout))

    async def fetch(self, command_id: UUID, action: int | None, timeout: float) -> Picture:
        """The picture that a command had taken; raises as ``screenshot`` does.

        ``action`` is which of its actions; None is the one at its end.
        """
        number = self._next_request()
        question = ActionPicture(
            request=number, command_id=command_id, action=action, server_time=server_time()
        )
        return _picture(await self._answer(number, question, timeout))

    async def wait(self, conditions: Conditions, timeout: float) -> Seen:
        """What is seen within so many seconds; raises as ``screenshot`` does.

        Where whoever asks gives up, the machine looks no more.
        """
        number = self._next_request(self._looks, MAX_OPEN_LOOKS)
        question = Look(request=number, any=conditions, timeout=timeout, server_time=server_time())
        try:
            answer = await self._answer(number, question, timeout + ANSWER_SECONDS)
        finally:
            if number in self._waiting and self._is_up():
                self._ask(LookStop(request=number, server_time=server_time()))
        if not isinstance(answer, Seen):
            raise TypeError("a wait was answered by something else")
        return answer

    async def look(self, timeout: float) -> DesktopSeen:
        """Where the displays and the pointer are now; raises as ``screenshot`` does."""
        number = self._next_request()
        question = DesktopQuery(request=number, server_time=server_time())
        answer = await self._answer(number, question, timeout)
        if not isinstance(answer, DesktopSeen):
            raise TypeError("a desktop query was answered by something else")
        return answer

    async def elements(
        self, sought: Sought, at: Point | None, limit: int, depth: int | None, timeout: float
    ) -> ElementsSeen:
        """Which elements there are now; raises as ``screenshot`` does."""
        number = self._next_request(self._element_questions, MAX_OPEN_ELEMENTS)
        question = ElementsQuery(
            request=number,
            sought=sought,
            at=at,
            limit=limit,
            depth=depth,
            server_time=server_time(),
        )
        answer = await self._answer(number, question, timeout)
        if not isinstance(answer, ElementsSeen):
            raise TypeError("a query for elements was answered by something else")
        return answer

    def arrived(self, arrival: ScreenArrival) -> None:
        """Take what the machine sent."""
        match arrival:
            case LivePictureArrived(picture):
                self.newest = picture
                for viewer in self._viewers:
                    viewer.notify()
            case LiveScreenEnded(reason):
                self._options = None
                self._end_all(reason)
            case ScreenshotArrived(request, picture):
                self._settle(request, picture)
            case DesktopArrived(request, seen):
                self._settle(request, seen)
            case ElementsArrived(request, shown):
                self._settle(request, shown)
            case LookEnded(request, ended):
                self._settle(request, ended)
            case RequestRefused(request, reason, code, field):
                why: Exception = ScreenUnavailableError(reason)
                if code is not None and field is not None:
                    why = NotOnScreenError(reason, code, field)
                self._settle(request, why)

    def unavailable(self, reason: str, since: int) -> None:
        """The screen cannot be taken any more: whoever waits for a picture is told why."""
        self._end_all(reason, since)
        self._show()
        for future in self._waiting.values():
            # Its question stays open until the machine answers it after all.
            if not future.done():
                future.set_exception(ScreenUnavailableError(reason, since))
                future.exception()

    def privacy_changed(self, privacy: Privacy) -> None:
        """Others may see the screen than before: it is shown anew, to them."""
        for viewer in self._viewers:
            try:
                privacy.check(viewer.looker)
            except PrivateError as error:
                viewer.hide(error)
        # What was shown last may be of a moment that none of them is to see.
        self.newest = None
        self._show(anew=True)

    def hide(self, why: PrivateError) -> None:
        """Nobody who looks may see it any more."""
        self.newest = self._options = None
        for viewer in self._viewers:
            viewer.hide(why)

    def over(self) -> None:
        """The link is closed: nothing more will come."""
        self._end_all("the machine's link ended")
        for request in tuple(self._waiting):
            self._settle(request, LinkLostError())

    def _end_all(self, reason: str, since: int | None = None) -> None:
        self.newest = None
        for viewer in self._viewers:
            viewer.end(reason, since)

    def _show(self, *, anew: bool = False) -> None:
        """Have the machine show what all viewers together want, where that has changed.

        With ``anew`` also where it has not: it begins with a picture of the screen as it is then.
        """
        if not self._is_up():
            return
        wanted = _together([viewer.options for viewer in self._viewers if viewer.why_over is None])
        if wanted == self._options and not (anew and wanted is not None):
            return
        if wanted is None:
            self._ask(ScreenStop(stream=self._stream, server_time=server_time()))
            self._options = self.newest = None
            return
        self._ask(
            ScreenStart(
                stream=self._stream + 1,
                width=wanted.width,
                height=wanted.height,
                quality=wanted.quality,
                rate=wanted.rate,
                server_time=server_time(),
            )
        )
        # Only now: one who asks after a question that was refused asks anew.
        self._stream += 1
        self._options = wanted

    def _next_request(
        self, open_already: set[int] | None = None, most: int = MAX_OPEN_REQUESTS
    ) -> int:
        """The number of a request: one more of those that are open already, which may be so many.

        None are those that are answered with what is there now.
        """
        if not self._is_up():
            raise LinkDownError
        # One that was given up counts until the machine answers it.
        others = len(self._looks) + len(self._element_questions)
        if most <= (len(self._waiting) - others if open_already is None else len(open_already)):
            raise LinkBusyError
        self._request += 1
        if open_already is not None:
            open_already.add(self._request)
        return self._request

    async def _answer(self, number: int, question: ScreenQuestion, timeout: float) -> _Answer:
        future: asyncio.Future[_Answer] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        self._ask(question)
        async with asyncio.timeout(timeout):
            return await future

    def _settle(self, request: int, result: _Answer | Exception) -> None:
        self._looks.discard(request)
        self._element_questions.discard(request)
        future = self._waiting.pop(request)
        if future.done():
            return  # Nobody waits any more.
        if isinstance(result, Exception):
            future.set_exception(result)
            future.exception()
        else:
            future.set_result(result)


def _together(wanted: list[LiveOptions]) -> LiveOptions | None:
    """The largest of everything that was asked for: one capture serves all."""
    if not wanted:
        return None
    return LiveOptions(
        width=_largest([each.width for each in wanted]),
        height=_largest([each.height for each in wanted]),
        quality=max(each.quality for each in wanted),
        rate=max(each.rate for each in wanted),
    )


def _largest(sides: list[int | None]) -> int | None:
    """The largest side; None, which is the screen's own, is larger than any."""
    given = [side for side in sides if side is not None]
    return max(given) if len(given) == len(sides) else None


def _picture(answer: _Answer) -> Picture:
    if not isinstance(answer, Picture):
        raise TypeError("a question about a picture was answered by something else")
    return answer
