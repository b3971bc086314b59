"""One recording on the node that has its machine's link: inputs in, steps written.

Nothing of it is in the way of an input: what was carried out is noted, and a task makes steps of
it, some times a second.  A step is over once its picture afterwards is there; until then it is
written as one that is under way, so that of a killed node's nothing is missing that was answered a
second before.
"""

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Final, TypeVar
from uuid import uuid4

from schemas.inputs.bodies import MouseInput
from schemas.inputs.outcomes import Completed
from schemas.link.picture_frames import Picture
from server.clock import milliseconds, server_time
from server.dispatch.command import Command, CommandReply, Ended
from server.dispatch.ledger.timings import Timings
from server.dispatch.recording.album import Album
from server.dispatch.recording.before_and_after import BeforeAndAfter, Beneath, changes_texts
from server.dispatch.recording.drafts import Draft
from server.dispatch.recording.frames import SETTLED, Frames
from server.dispatch.recording.notes import Notes, Taken
from server.dispatch.recording.showing import NOT_SHOWN, Showing, Shown
from server.dispatch.recording.steps import (
    SecretNames,
    may_keep_text,
    shows_secret,
    takes,
    text_of,
    written,
)
from server.dispatch.recording.unkept import Unkept
from server.dispatch.recording.watching import Watching
from server.dispatch.recording.writing import RecordingEndedError, RecordingWriter
from server.errors import NotFound, StoreError
from server.machines.socket import LinkSocket
from server.store.machines.recording_marks import RecordingMark
from server.store.recordings.recordings import StoredRecording, StoredStep
from server.tasks import Tasks, at_most

logger = logging.getLogger(__name__)

TICK_SECONDS: Final = 0.1

PICTURES_SECONDS: Final = 0.1
"""For pictures of what is over to be kept, before what comes after it is written alone."""

IDLE_SECONDS: Final = 60.0
AGAIN_SECONDS: Final = 0.5
"""After which a database that took nothing is asked again."""

ARRIVAL: Final = 100
"""Milliseconds for a picture to come, after the moment at which it was taken."""

PACE_SECONDS: Final = (SETTLED + ARRIVAL) / 1000 + 0.02
"""From an input to when it is written, or a little later: then one alone is over, and written once.
What is answered is safe within a second, also where writing takes almost as long as this.  Inputs
feel each time, which takes some milliseconds."""

FIRST_PICTURE_SECONDS: Final = 1.0
LOOK_SECONDS: Final = 1.5
"""For it to be known where the last text is, when the recording ends."""

FINISH_SECONDS: Final = 15.0
"""For all that is noted to be written, where the recording ends or its node does."""

ANSWER_SECONDS: Final = 1.0
"""For what was on its way to be answered, when its link has ended."""

MOST_AT_ONCE: Final = 500
"""Steps that are written together."""

MOST_CHARACTERS: Final = 2_000_000
"""Of all of them, unless the first alone has more: a document of the database has 16 MiB."""

T = TypeVar("T")


class RecordingSession:
    """One recording, from when this node takes it until it ends here.

    It lasts as long as its link at most.  ``before`` is the one of an earlier link, which may still
    write.
    """

    def __init__(
        self,
        link: LinkSocket,
        mark: RecordingMark,
        writer: RecordingWriter,
        album: Album,
        background: Tasks,
        *,
        before: "RecordingSession | None" = None,
    ) -> None:
        self.link = link
        self.mark = mark
        self.is_over = self._has_left = False
        self._id, self._began = uuid4(), server_time()
        self._writer = writer
        self._album = album
        self._before = before
        self._frames = Frames()
        self._notes = Notes(keep_texts=mark.keep_texts, since=milliseconds(mark.since))
        self._stored: StoredRecording | None = None
        # What was typed before, on an earlier link, is said to be secret still.
        self._showing = Showing(self._frames, is_blind=mark.secret)
        self._secrets, self._was_secret = 0, mark.secret
        self._unkept = Unkept()
        self._last_ended: int | None = None
        self._pause_began: int | None = None
        self._pressed: tuple[int, int] | None = None
        self._open: list[bytes] = []
        # Since when inputs are under way, and whether they may change a text.
        self._under_way: dict[int, tuple[int, bool]] = {}
        self._answered = asyncio.Event()
        self._answered.set()
        self._woken = asyncio.Event()
        self._woken_at = 0.0
        self._closing = asyncio.Event()
        self._is_in_haste = False
        self._private_since: int | None = None
        self._private_until = 0
        self._background = background
        # Of what is over: its pictures are kept, beside the writing of what comes after it.
        self._keeping: asyncio.Task[_Kept] | None = None
        self._watching = Watching(link, self._frames, background)
        self._running = background.start_and_report(self._run(), "record a machine")

    @property
    def writes_no_more(self) -> bool:
        """Whether what ends from now on is not written here."""
        return self.is_over or self._has_left

    @property
    def waiting(self) -> int:
        """How many steps are not written yet."""
        return len(self._notes.open)

    async def until_seen(self) -> None:
        """Wait for the first picture, but not for long."""
        await at_most(FIRST_PICTURE_SECONDS, self._watching.is_settled.wait())

    def takes(self, command: Command) -> bool:
        """Whether an input is among those that are recorded."""
        return not self.is_over and takes(self.mark, command)

    def private_is(self, is_private: bool) -> None:
        """Somebody has private control: nothing is recorded of it, but that it was so."""
        if is_private == (self._private_since is not None):
            return
        if self._private_since is None:
            self._private_since = server_time()
            self._notes.close()
        else:
            since, self._private_since = self._private_since, None
            self._private_until = server_time()
            self._notes.was_private(since, self._private_until)
        self._wake()

    def passes(self, command: Command) -> None:
        """An input is on its way to the machine, whether it is recorded or not."""
        self._unkept.typed(command.body)

    def began(
        self, command: Command, beneath: Beneath | None, around: BeforeAndAfter | None = None
    ) -> Taken:
        """An input is on its way; it is told of again when it has `ended`."""
        now, secret = server_time(), self.mark.secret or command.sender.has_secrets
        taken = Taken(command, self._frames.newest, beneath, around, is_said_secret=secret)
        self._was_secret |= self.mark.secret
        self._under_way[id(taken)] = now, changes_texts(command.body) > 0
        self._answered.clear()
        self._notes.desktop_is(self.link.desktop.displays, now)
        return taken

    def ended(self, taken: Taken, reply: CommandReply | None, timings: Timings) -> None:
        """An input is answered in a moment; None is that it was given up."""
        self._under_way.pop(id(taken), None)
        if not self._under_way:
            self._answered.set()
        at = server_time()
        if timings.acknowledged:
            at -= round((perf_counter() - timings.acknowledged) * 1000)
        elif isinstance(reply, Ended):
            at = reply.ended_at
        if passed := _passed(taken.command, reply):
            self._frames.pointer_passed(passed, at)
            # The next step's picture may have the pointer where it was left.
            self._watching.look_without_pointer()
        if isinstance(reply, Ended) and reply.is_replayed:
            # Nobody knows whether it was said to be secret on an earlier link.
            is_secret = self._was_secret or reply.accepted_at < self._began
            taken = taken.made_up(is_said_secret=is_secret or taken.is_said_secret)
        if reply is not None and self._private_since is None and self._was_open(taken, reply):
            self._notes.ended(taken, reply, at)
        self._wake()

    def _was_open(self, taken: Taken, reply: CommandReply) -> bool:
        """Whether nobody had private control, as far as it is known here."""
        sender, accepted_at = taken.command.sender, taken.command.accepted_at
        if isinstance(reply, Ended):
            accepted_at = reply.accepted_at
            if reply.is_replayed and sender.lease_hash and accepted_at < self._began:
                # It was done in control; whether that was private, an earlier session knew.
                return False
        # Of what was under way when private control began, or ended, a part may have been private.
        return accepted_at >= self._private_until

    async def finish(self) -> None:
        """Write all that is noted, in bounded time, and be over."""
        self._closing.set()
        self._wake()
        await asyncio.wait((self._running,), timeout=FINISH_SECONDS)
        self.close()

    def close(self) -> None:
        """Be over, whatever is noted."""
        self.is_over = True
        self._running.cancel()
        self._watching.close()

    def _wake(self) -> None:
        """There is something to be written."""
        if not self._woken.is_set():
            self._woken_at = asyncio.get_running_loop().time()
            self._woken.set()

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            await self._take()
            while not self._closing.is_set():
                has_some = bool(self._notes.open or self._open)
                await at_most(TICK_SECONDS if has_some else IDLE_SECONDS, self._woken.wait())
                self._woken.clear()
                pause = max(self._woken_at + PACE_SECONDS - loop.time(), TICK_SECONDS)
                await at_most(pause, self._closing.wait())
                await self._write()
            await self._leave()
        except RecordingEndedError:
            pass
        except NotFound:
            await self._writer.end(self.link.organization_id, self.mark.id, "trajectory")
        except Exception:
            # Nobody must believe that it goes on.
            await self._writer.end(self.link.organization_id, self.mark.id, "failed")
            raise
        finally:
            self.is_over = True
            self._watching.close()
            if self._keeping is not None:
                self._keeping.cancel()

    async def _leave(self) -> None:
        """Write what is left, once all is answered that was on its way."""
        await at_most(ANSWER_SECONDS, self._answered.wait())
        self.private_is(False)
        self._notes.close()
        loop = asyncio.get_running_loop()
        give_up_at = loop.time() + LOOK_SECONDS
        while self._notes.open:
            self._is_in_haste = loop.time() > give_up_at
            await self._write()
            if self._notes.open:
                await asyncio.sleep(TICK_SECONDS)
        # From now on nobody waits for it who ends the recording.
        self._has_left = True
        if (stored := self._stored) is not None:
            await self._patiently(lambda: self._writer.release(stored, self._id))

    async def until_over(self) -> None:
        """Wait until all is written that will be."""
        await asyncio.wait((self._running,), timeout=FINISH_SECONDS)

    async def _take(self) -> None:
        """Begin with what the recording has from before, on this node or another one."""
        if self._before is not None:
            await self._before.until_over()
            self._before = None
        self._stored = stored = await self._patiently(
            lambda: self._writer.take(self.link.organization_id, self.mark.id, self._id)
        )
        self._secrets = stored.secrets
        # What was typed before is known to nobody any more.
        self._unkept.is_whole &= stored.secrets == 0
        self._album.begin(stored.pictures, stored.picture_bytes)

    async def _write(self) -> None:
        """Write what is over, once its pictures are kept, and what is under way."""
        kept = await self._kept_by_now()
        names, pause_began, steps = SecretNames(self._secrets), self._pause_began, []
        for each in kept.made:
            before, after = (kept.ids.get(id(picture)) for picture in each.shown)
            pictures = before, after
            steps.append(self._step(each.draft, pause_began, names, pictures, each.shown[0]))
            pause_began = each.draft.pause_began
        used = names.used
        open_steps = self._not_over(kept.over, pause_began, names)
        contents = [step.content for step in open_steps]
        if steps or contents != self._open:
            await self._append(steps, open_steps)
        self._open, self._pause_began, self._secrets = contents, pause_began, used
        if kept.made:
            self._last_ended = kept.made[-1].draft.ended
        self._notes.forget(kept.over)

    async def _kept_by_now(self) -> "_Kept":
        """What is over, if its pictures are kept soon; else nothing: no step waits for them."""
        if self._keeping is None:
            sees_more = not (self.link.is_over or self._is_in_haste)
            settled = SETTLED + ARRIVAL if sees_more else 0
            over = self._notes.over(server_time(), settled=settled, is_decided=self._is_decided)
            if not over:
                return _NOTHING_KEPT
            self._keeping = self._background.start(
                self._keep(together(over), sees_more=sees_more), "keep pictures of a recording"
            )
        await asyncio.wait((self._keeping,), timeout=PICTURES_SECONDS)
        if not self._keeping.done():
            return _NOTHING_KEPT
        keeping, self._keeping = self._keeping, None
        return keeping.result()

    async def _keep(self, over: Sequence[Draft], *, sees_more: bool) -> "_Kept":
        made = await self._made(over, sees_more=sees_more)
        ids = await self._patiently(
            lambda: self._album.keep(each for one in made for each in one.shown if each)
        )
        return _Kept(over, made, ids)

    def _is_decided(self, draft: Draft) -> bool:
        """Whether all is known of a draft that will be: what it typed, and where that is."""
        is_kept = may_keep_text(draft, keep_texts=self.mark.keep_texts)
        if self._is_in_haste:
            return True
        is_secret = shows_secret(draft, is_kept=is_kept)
        is_known = is_kept is not None and not self._showing.needs_look(draft, is_secret=is_secret)
        if is_known and draft.last_around is not None:
            draft.last_around.is_over = True
        return is_known

    async def _made(self, over: Sequence[Draft], *, sees_more: bool) -> list["_Made"]:
        """Those that are steps, and how the screen looked before and after each."""
        made: list[_Made] = []
        cause = self._last_ended or 0
        for draft in over:
            if draft.hover and not self._frames.changed(draft.ended, draft.ended + SETTLED):
                continue  # The pointer rested somewhere, and nothing came of it.
            if draft.operation.startswith("keyboard."):
                draft.pressed, self._pressed = self._pressed, None
            made.append(_Made(draft, await self._shown(draft, cause, sees_more=sees_more)))
            self._showing.is_shown(draft)
            if draft.operation != "mouse.move":
                self._pressed = draft.place if draft.operation == "mouse.click" else None
            cause = draft.ended
        return made

    async def _shown(self, draft: Draft, cause: int, *, sees_more: bool) -> Shown:
        """The screen before and after a step, without what is secret."""
        typing = [began for began, is_typing in self._under_way.values() if is_typing]
        next_began = min((self._notes.begin_of_next(draft), *typing), key=_or_never)
        until = draft.ended + SETTLED if sees_more else draft.ended
        if next_began is not None:
            until = max(min(until, next_began), draft.ended)
        is_kept = may_keep_text(draft, keep_texts=self.mark.keep_texts)
        is_secret = shows_secret(draft, is_kept=is_kept)
        if is_secret and draft.text is None:
            self._unkept.is_whole = False  # It was pasted, and may be in any name from now on.
        is_unseen = draft.is_gap or draft.is_made_up
        # Another input may have shown a part of a text by then.
        if is_unseen or self._is_typing(draft.began, draft, typing):
            self._showing.learn(draft, is_secret=is_secret)
            return NOT_SHOWN
        is_seen_after = not self._is_typing(until, draft, typing)
        return await self._showing.of(
            draft, cause, until if is_seen_after else None, is_secret=is_secret
        )

    def _is_typing(self, moment: int, besides: Draft, typing: Sequence[int]) -> bool:
        return any(began < moment for began in typing) or self._notes.is_typing(moment, besides)

    def _not_over(
        self, over: Sequence[Draft], pause_began: int | None, names: SecretNames
    ) -> list[StoredStep]:
        """What is not over yet, as steps that have no pictures yet."""
        gone = set(map(id, over))
        steps: list[StoredStep] = []
        left = [each for each in self._notes.open if id(each) not in gone and not each.hover]
        for draft in together(left):
            steps.append(self._step(draft, pause_began, names, (None, None)))
            pause_began = draft.pause_began
        return steps

    def _step(
        self,
        draft: Draft,
        pause_began: int | None,
        names: SecretNames,
        pictures: tuple[str | None, str | None],
        before: Picture | None = None,
    ) -> StoredStep:
        is_kept = may_keep_text(draft, keep_texts=self.mark.keep_texts)
        if is_kept:
            self._unkept.kept(text_of(draft))
        return written(
            draft,
            pause_began=pause_began,
            displays=self.link.desktop.displays,
            secret=None if is_kept else names.next(),
            unkept=self._unkept,
            pictures=pictures,
            shown=None if before is None else before.region,
        )

    async def _append(self, steps: Sequence[StoredStep], open_steps: Sequence[StoredStep]) -> None:
        if (stored := self._stored) is None:
            return
        self._stored = await self._patiently(
            lambda: self._writer.append(
                stored,
                self._id,
                steps,
                open_steps,
                pictures=self._album.number,
                picture_bytes=self._album.size,
            )
        )

    async def _patiently(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do it, again and again while the database takes nothing: what is noted waits, bounded."""
        while True:
            try:
                return await work()
            except NotFound:
                raise
            except StoreError as error:
                logger.warning(
                    "machine=%s recording=%s waits: %s", self.link.machine_id, self.mark.id, error
                )
            await asyncio.sleep(AGAIN_SECONDS)


def together(drafts: Sequence[Draft]) -> list[Draft]:
    """The first of these, as many as the database takes in one document."""
    taken: list[Draft] = []
    characters = 0
    for draft in drafts[:MOST_AT_ONCE]:
        characters += len(str(draft.body)) + len(draft.text or "")
        if taken and characters > MOST_CHARACTERS:
            break
        taken.append(draft)
    return taken


@dataclass(frozen=True, slots=True)
class _Made:
    """A step, and how the screen looked before and after it."""

    draft: Draft
    shown: Shown


@dataclass(frozen=True, slots=True)
class _Kept:
    """What is over, the steps that it comes to, and the ids of their pictures by the objects'."""

    over: Sequence[Draft]
    made: Sequence[_Made]
    ids: Mapping[int, str]


_NOTHING_KEPT: Final = _Kept((), (), {})


def _passed(command: Command, reply: CommandReply | None) -> list[tuple[int, int]]:
    """Where an input has put the pointer, the last place last."""
    body = command.body
    places = body.places if isinstance(body, MouseInput) and body.picture_size is None else ()
    passed = [(each.x, each.y) for each in places]
    if isinstance(reply, Ended) and isinstance(reply.outcome, Completed):
        passed.append((reply.outcome.pointer.x, reply.outcome.pointer.y))
    return passed


def _or_never(moment: int | None) -> float:
    return math.inf if moment is None else moment
