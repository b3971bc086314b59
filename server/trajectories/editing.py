"""Single steps of a trajectory: read, inserted, changed and removed by their numbers.

The text of the others is not touched: whatever they hold stays as it was sent.
"""

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, Literal
from uuid import UUID

from schemas.http.entity_tags import version_tag
from schemas.http.queries import PageQuery
from schemas.steps.changes import ChangedStep, changed_step
from schemas.steps.reviews import Editor
from schemas.steps.step import OPERATIONS, why_cannot_run
from schemas.values.json_encoding import encode_json
from schemas.values.json_texts import JsonObjects
from server.errors import NotFound, StoreUnavailable, WrongState
from server.store.idempotency import KeyedRequest
from server.store.trajectories.documents import StoredTrajectory
from server.store.trajectories.keeping import pictures_in
from server.store.trajectories.parts import PartStore
from server.store.trajectories.pictures import PictureStore
from server.store.trajectories.store import TrajectoryStore
from server.store.trajectories.writes import OpenTrajectory
from server.store.transactions import Transaction, Transactions
from server.store.versions import Versions
from server.trajectories.answers import KeyedAnswer, head_answer, head_result
from server.trajectories.contents import changed_hashes
from server.trajectories.rendering import step_chunks
from server.trajectories.reviewing import edited

MOST_EDITED_BYTES: Final = 8 * 1024 * 1024
"""Of all steps together: to find one by its number, all before it are gone through."""

MOST_AT_ONCE: Final = 4
"""So many have all steps of a trajectory in memory, in some three copies; others wait."""

LONGEST_WAIT_SECONDS: Final = 10.0
_AT_ONCE: Final = 200
"""So many steps are taken apart in a few milliseconds; then it is somebody else's turn."""

_DECODER: Final = json.JSONDecoder(parse_int=str, parse_float=str)
"""Numbers are not looked at."""

Texts = list[str]
"""The steps, each as JSON text."""

Gone = Mapping[str, Literal["expired", "missing"]]
"""Pictures that are not there, by their ids, and why."""


class StepEditing:
    """Every method sees the trajectories of the organization it is given, and no others."""

    def __init__(
        self, store: TrajectoryStore, pictures: PictureStore, transactions: Transactions
    ) -> None:
        self._store = store
        self._pictures = pictures
        self._transactions = transactions
        self._free = asyncio.Semaphore(MOST_AT_ONCE)

    async def page(
        self, organization_id: UUID, trajectory_id: UUID, page: PageQuery
    ) -> tuple[str, AsyncGenerator[bytes, None]]:
        """Its tag, and some of its steps as JSON text, read when that is.

        Raises NotFound or WrongState; NotFound in the middle where it is deleted meanwhile.
        """
        stored = await self._stored(organization_id, trajectory_id)
        return version_tag(stored.version), self._page(stored, page)

    async def _page(self, stored: StoredTrajectory, page: PageQuery) -> AsyncGenerator[bytes, None]:
        async with self._one_of_few():
            texts = await self._texts(stored)
        total, shown = len(texts), texts[page.skip :][: page.limit]
        del texts
        gone = await self._gone(stored, shown)
        yield b'{"total":%d,"skip":%d,"limit":%d,"items":[' % (total, page.skip, page.limit)
        for number, text in enumerate(shown, page.skip + 1):
            answer = step_answer(number, text, gone)
            yield (b"," if number > page.skip + 1 else b"") + answer
        yield b"]}"

    async def get(
        self, organization_id: UUID, trajectory_id: UUID, number: int
    ) -> tuple[str, bytes]:
        """Its tag, and one of its steps as JSON text.  Raises NotFound or WrongState."""
        async with self._one_of_few():
            stored = await self._stored(organization_id, trajectory_id)
            texts = await self._texts(stored)
        text = texts[_place(texts, number)]
        gone = await self._gone(stored, [text])
        return version_tag(stored.version), step_answer(number, text, gone)

    async def _gone(self, stored: StoredTrajectory, texts: Texts) -> Gone:
        """The pictures that these steps name and that are not there, and why."""
        pictures = pictures_in(text.encode() for text in texts)
        if pictures:
            pictures -= await self._pictures.there(stored.organization_id, pictures)
        why: Literal["missing", "expired"] = "expired" if stored.pictures_expired_at else "missing"
        return dict.fromkeys(pictures, why)

    async def _stored(self, organization_id: UUID, trajectory_id: UUID) -> StoredTrajectory:
        stored = await self._store.get(organization_id, trajectory_id)
        if stored is None:
            raise NotFound("There is no such trajectory.")
        _check_size(_size(stored))
        return stored

    async def insert(
        self,
        organization_id: UUID,
        by: Editor,
        trajectory_id: UUID,
        steps: JsonObjects,
        before: int,
        versions: Versions = None,
        request: KeyedRequest | None = None,
    ) -> KeyedAnswer:
        """Put steps in front of one of those that are there; the trajectory without its steps.

        Raises NotFound, VersionMismatch, KeyReused or WrongState.
        """

        def edit(texts: Texts) -> Texts:
            place = _place(texts, before)
            return [*texts[:place], steps.text[1:-1].decode(), *texts[place:]]

        async def work(transaction: Transaction) -> dict[str, Any]:
            opened = await transaction.trajectories.open(organization_id, trajectory_id, versions)
            return head_result(*await self._edited(opened, by, edit, steps.count))

        async with self._one_of_few():
            return head_answer(*await self._transactions.run_once(request, work))

    async def remove(
        self,
        organization_id: UUID,
        by: Editor,
        trajectory_id: UUID,
        number: int,
        versions: Versions = None,
        request: KeyedRequest | None = None,
    ) -> KeyedAnswer:
        """Take a step out; the trajectory without its steps.

        Raises NotFound, VersionMismatch, KeyReused or WrongState.
        """

        def edit(texts: Texts) -> Texts:
            place = _place(texts, number)
            return [*texts[:place], *texts[place + 1 :]]

        async def work(transaction: Transaction) -> dict[str, Any]:
            opened = await transaction.trajectories.open(organization_id, trajectory_id, versions)
            if opened.stored.is_generated and opened.stored.step_count == number == 1:
                raise WrongState(
                    "it is generated, and has no other step: set is_generated to false first, or "
                    "delete the trajectory"
                )
            return head_result(*await self._edited(opened, by, edit, -1))

        async with self._one_of_few():
            return head_answer(*await self._transactions.run_once(request, work))

    async def change(
        self,
        organization_id: UUID,
        by: Editor,
        trajectory_id: UUID,
        number: int,
        change: ChangedStep,
        versions: Versions = None,
        request: KeyedRequest | None = None,
    ) -> KeyedAnswer:
        """Change what is named of a step; the step as it is then.

        Raises NotFound, VersionMismatch, KeyReused, WrongState for a step that is not Farhand's, or
        pydantic's ValidationError where the step could not run then.
        """

        async def work(transaction: Transaction) -> dict[str, Any]:
            opened = await transaction.trajectories.open(organization_id, trajectory_id, versions)
            after: list[str] = []

            def edit(texts: Texts) -> Texts:
                place = _place(texts, number)
                after.append(_changed(texts[place], change))
                return [*texts[:place], *after, *texts[place + 1 :]]

            result = head_result(*await self._edited(opened, by, edit, 0))
            gone = await self._gone(opened.stored, after)
            return {**result, "head": step_answer(number, after[0], gone)}

        async with self._one_of_few():
            return head_answer(*await self._transactions.run_once(request, work))

    async def _edited(
        self, opened: OpenTrajectory, by: Editor, edit: Callable[[Texts], Texts], more: int
    ) -> tuple[StoredTrajectory, bool]:
        """Write the steps as ``edit`` has them, ``more`` in number; whether an approval ended."""
        before = await self._texts(await opened.whole())
        after = edit(before)
        if after == before:
            return opened.stored, False
        return await write_steps(opened, by, after, opened.stored.step_count + more)

    @asynccontextmanager
    async def _one_of_few(self) -> AsyncIterator[None]:
        """Have all steps in memory, as few others do at this moment.  Raises StoreUnavailable."""
        try:
            await asyncio.wait_for(self._free.acquire(), LONGEST_WAIT_SECONDS)
        except TimeoutError:
            raise StoreUnavailable("too many steps are edited at once: try again") from None
        try:
            yield
        finally:
            self._free.release()

    async def _texts(self, trajectory: StoredTrajectory) -> Texts:
        _check_size(_size(trajectory))
        return await read_steps(self._store.parts, trajectory)


async def write_steps(
    opened: OpenTrajectory, by: Editor, texts: Texts, count: int
) -> tuple[StoredTrajectory, bool]:
    """Put these steps, so many, in the place of those that are there; whether an approval ended.

    Raises WrongState where they are too large.
    """
    text = ",".join(texts).encode()
    _check_size(len(text))
    steps = JsonObjects(b"[" + text + b"]", count)
    digest = hashlib.sha256(text).digest() if opened.stored.is_generated else None
    fields = {**edited(opened.stored, by), "steps_digest": digest}
    fields |= changed_hashes(opened.stored, fields, digest)
    return await opened.replace_steps(steps, fields), "review" in fields


async def read_steps(parts: PartStore, trajectory: StoredTrajectory) -> Texts:
    """All steps of a trajectory."""
    chunks = [chunk async for chunk in step_chunks(parts, trajectory)]
    return await step_texts(b"".join(chunks).decode())


async def step_texts(text: str) -> Texts:
    """The text of each step in that of all of them, which has no brackets around it."""
    texts: Texts = []
    place = 0
    while place < len(text):
        _, end = _DECODER.raw_decode(text, place)
        texts.append(text[place:end])
        place = end + 1
        if len(texts) % _AT_ONCE == 0:
            await asyncio.sleep(0)
    return texts


def step_answer(number: int, text: str, gone: Gone) -> bytes:
    """A step as it is answered, with why it cannot run where it cannot.

    ``gone`` are pictures that are not there.
    """
    content = text.encode()
    why = encode_json(why_cannot_run(_decoded(text)))
    named = pictures_in([content]) if gone else set()
    reason = encode_json(next((gone[each] for each in named if each in gone), None))
    answer = b'{"number":%d,"cannot_run":%s,"pictures_gone":%s,"step":%s}'
    return answer % (number, why, reason, content)


def _changed(text: str, change: ChangedStep) -> str:
    step = _decoded(text)
    if step.get("operation") not in OPERATIONS:
        raise WrongState(f"this step cannot be changed, only removed: {why_cannot_run(step)}")
    return encode_json(changed_step(step, change)).decode()


def _decoded(text: str) -> dict[str, Any]:
    decoded: dict[str, Any] = json.loads(text)
    return decoded


def _place(texts: Sequence[str], number: int) -> int:
    """Where the step of a number is.  Raises NotFound."""
    if number > len(texts):
        raise NotFound(f"There is no step {number}.")
    return number - 1


def _size(trajectory: StoredTrajectory) -> int:
    """How many bytes all steps have together."""
    return trajectory.inline_size + sum(each.size for each in trajectory.segments)


def _check_size(size: int) -> None:
    if size > MOST_EDITED_BYTES:
        raise WrongState(
            f"all steps together have {size} bytes, and may have {MOST_EDITED_BYTES} to be read "
            "and edited one by one"
        )
