"""Has pictures looked at, by a few processes that are started once there is one."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Final

from schemas.inputs.sights import Sighted
from schemas.link.picture_frames import Picture
from server.programs.installing import how_to_install
from server.tasks import Tasks
from server.vision.findings import Findings, Part, PlaceFound, Question, TextFound
from server.vision.process import LookingProcess, ProcessEndedError
from server.vision.queue import FairQueue, QueueFullError

logger = logging.getLogger(__name__)

MODULES: Final = ("cv2", "numpy", "rapidocr", "onnxruntime")

MOST_WAITING: Final = 256
MOST_OF_A_CALLER: Final = 8
"""Pictures of one machine: its waits show one each, and a few may ask for its texts."""

TRIES: Final = 2
"""With a process each: a picture that ends two of them would end more."""

REST: Final = 6.0
LONGEST_REST: Final = 1.0
"""A process rests for so many times as long as a look took, and for so many seconds at most, before
it looks at what waits: else the inputs of others would wait for their processor."""


def why_missing() -> str:
    """Why nothing is looked at where what that needs is not installed, with the remedy."""
    return f"this server does not look for texts and pictures: {how_to_install('vision')}"


class VisionError(Exception):
    """Nobody looks at the picture; ``str()`` says why, for a person."""


class VisionMissingError(VisionError):
    """What it needs is not installed."""

    def __init__(self) -> None:
        super().__init__(why_missing())


class VisionBusyError(VisionError):
    """As many pictures wait as may."""

    def __init__(self) -> None:
        super().__init__("as many pictures wait to be looked at as there is room for")


@dataclass(frozen=True, slots=True)
class _Job:
    """A picture that waits to be looked at."""

    question: Question
    picture: bytes
    answer: "asyncio.Future[Findings]"


class Vision:
    """Looks at pictures: at most ``processes`` at once, each for so many ``seconds``.

    ``looks`` counts how they ended, and ``seconds_looked`` is how long they took together.
    """

    def __init__(
        self, processes: int, memory_bytes: int, seconds: float, background: Tasks
    ) -> None:
        self._most = processes
        self._memory_bytes = memory_bytes
        self._seconds = seconds
        self._background = background
        self._queue: FairQueue[_Job] = FairQueue(MOST_WAITING, MOST_OF_A_CALLER)
        self._idle: list[LookingProcess] = []
        self._working: set[asyncio.Task[None]] = set()
        self._busy = 0
        self.looks: Counter[str] = Counter(found=0, failed=0, refused=0)
        self.seconds_looked = 0.0

    @property
    def is_installed(self) -> bool:
        """Whether what it needs is there; what was installed meanwhile counts at once."""
        return all(find_spec(name) is not None for name in MODULES)

    @property
    def waiting(self) -> int:
        """How many pictures wait."""
        return len(self._queue)

    @property
    def failed(self) -> int:
        """How many nobody has looked at."""
        return self.looks["failed"] + self.looks["refused"]

    async def judge(
        self, caller: str, conditions: Sequence[tuple[int, Sighted]], picture: Picture
    ) -> Findings:
        """Which of the conditions is met first, by its number.  Raises VisionError."""
        return await self._found(caller, _question(picture, conditions), picture.content)

    async def texts(self, caller: str, picture: Picture) -> tuple[TextFound, ...]:
        """The texts in it, from the top to the bottom.  Raises VisionError."""
        return (await self._found(caller, _question(picture), picture.content)).texts

    async def places(
        self, caller: str, part: Part, recorded: bytes, picture: Picture
    ) -> tuple[PlaceFound, ...]:
        """Where a part of a recorded picture may be in another one.  Raises VisionError."""
        question = _question(picture).model_copy(update={"part": part})
        return (await self._found(caller, question, picture.content + recorded)).places

    async def close(self) -> None:
        """End all processes; who waits is told."""
        for working in tuple(self._working):
            working.cancel()
        await asyncio.gather(*self._working, return_exceptions=True)
        while self._queue:
            _fail(self._queue.take(), "the server is stopping")
        idle, self._idle = self._idle, []
        await asyncio.gather(*(process.end() for process in idle))

    async def _found(self, caller: str, question: Question, picture: bytes) -> Findings:
        if not self.is_installed:
            self.looks["refused"] += 1
            raise VisionMissingError
        job = _Job(question, picture, asyncio.get_running_loop().create_future())
        try:
            self._queue.put(caller, job)
        except QueueFullError:
            self.looks["refused"] += 1
            raise VisionBusyError from None
        if self._busy < self._most:
            self._busy += 1
            working = self._background.start_and_report(self._work(), "look at pictures")
            self._working.add(working)
            working.add_done_callback(self._working.discard)
        findings = await job.answer
        if findings.failed is not None:
            raise VisionError(findings.failed)
        return findings

    async def _work(self) -> None:
        """Look at what waits, until nothing does."""
        try:
            await self._look_at_all()
        finally:
            # At once: whoever asks in the next moment finds nobody at work.
            self._busy -= 1

    async def _look_at_all(self) -> None:
        while self._queue:
            job = self._queue.take()
            if job.answer.done():
                continue  # Whoever asked has gone.
            began_at = time.monotonic()
            try:
                findings = await self._looked(job)
            except asyncio.CancelledError:
                _fail(job, "the server is stopping")
                raise
            except Exception as error:  # what waits behind it is looked at all the same
                logger.exception("a picture was not looked at")
                findings = Findings(failed=f"the server made a mistake ({type(error).__name__})")
            took = time.monotonic() - began_at
            self.seconds_looked += took
            self.looks["found" if findings.failed is None else "failed"] += 1
            if not job.answer.done():
                job.answer.set_result(findings)
            if self._queue:
                await asyncio.sleep(min(took * REST, LONGEST_REST))

    async def _looked(self, job: _Job) -> Findings:
        """What is found; a process that ends in the middle is replaced once."""
        why = ""
        for _ in range(TRIES):
            try:
                process = await self._free_process()
            except OSError as error:
                return Findings(failed=f"no process can be started: {error.strerror}")
            try:
                async with asyncio.timeout(self._seconds):
                    findings = await process.ask(job.question, job.picture)
            except TimeoutError:
                await process.end()
                return Findings(failed=f"the picture was not looked at within {self._seconds:g} s")
            except ProcessEndedError as error:
                await process.end()
                why = f"the process that looked at it failed: {error}"
            except BaseException:
                await process.end()
                raise
            else:
                self._idle.append(process)
                return findings
        return Findings(failed=why)

    async def _free_process(self) -> LookingProcess:
        while self._idle:
            process = self._idle.pop()
            if not process.is_over:
                return process
        return await LookingProcess.start(self._memory_bytes)


def _question(picture: Picture, conditions: Sequence[tuple[int, Sighted]] = ()) -> Question:
    return Question(conditions=tuple(conditions), region=picture.region, size=picture.size)


def _fail(job: _Job, why: str) -> None:
    if not job.answer.done():
        job.answer.set_result(Findings(failed=why))
