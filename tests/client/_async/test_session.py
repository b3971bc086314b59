"""Programs that are started again: each input happens once, at whatever moment they ended.

On a real server with a machine that the test plays; and, for every moment at once, on a transport
that remembers keys as servers do.
"""

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import farhand
from farhand import AsyncFarhand, AsyncMachine, AsyncSession, Farhand
from schemas.inputs.outcomes import Failed
from tests.client.scripted_server import problem, result
from tests.service import ScriptedLink, ScriptedMachine, Service

KILL = "killed here"


class KilledError(BaseException):
    """The program's end, at once."""


class Desk:
    """A real server and the machine that the test plays, for one program after another."""

    def __init__(self, service: Service, machine: ScriptedMachine, link: ScriptedLink) -> None:
        self.service = service
        self.machine = machine
        self.link = link

    async def run(
        self, file: Path, program: Callable[[AsyncMachine], Awaitable[Any]], name: str = "order"
    ) -> None:
        """Start a program in a session."""
        name = f"{name} {self.service.organization_id}"
        async with (
            AsyncFarhand(self.service.url, self.service.token, timeout=30) as client,
            client.session(name, file=file) as session,
        ):
            await program(session.machine(self.machine.machine_id))

    async def obeyed(self, *outcomes: Any) -> list[int]:
        """Carry out inputs; where they clicked."""
        bodies: list[Any] = [(await self.link.obey(each)).body for each in outcomes]
        return [body["x"] for body in bodies]


@pytest.fixture
def desk(service: Service, machine: ScriptedMachine, link: ScriptedLink) -> Desk:
    return Desk(service, machine, link)


def begun(running: Awaitable[Any]) -> "asyncio.Future[Any]":
    return asyncio.ensure_future(running)  # noqa: TID251 - the program, beside the machine


async def test_program_that_is_started_again_goes_on(desk: Desk, tmp_path: Path) -> None:
    told: list[tuple[bool, str]] = []

    async def program(machine: AsyncMachine) -> None:
        for x in (1, 2, 3):
            done = await machine.click(x, 1)
            told.append((done.replayed, done.key))

    running = begun(desk.run(tmp_path / "file", program))
    assert await desk.obeyed(None, None) == [1, 2]
    third = await desk.link.next_message()
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    running = begun(desk.run(tmp_path / "file", program))
    await desk.link.acknowledge(third.command_id)  # type: ignore[union-attr]
    await running
    await desk.link.nothing_heard()
    assert [replayed for replayed, _ in told[2:]] == [True, True, True]
    assert told[2][1] == told[0][1]
    with pytest.raises(farhand.SessionFinished):
        await desk.run(tmp_path / "file", program)


async def test_server_refuses_other_inputs_under_a_name_whose_file_is_lost(
    desk: Desk, tmp_path: Path
) -> None:
    async def program(machine: AsyncMachine) -> None:
        await machine.click(1, 1)

    async def other(machine: AsyncMachine) -> None:
        await machine.click(2, 1)

    running = begun(desk.run(tmp_path / "file", program))
    assert await desk.obeyed(None) == [1]
    await running
    # The same is known as done; another is refused, by the library if it has the file.
    await desk.run(tmp_path / "second", program)
    with pytest.raises(farhand.SessionChanged, match="with another file"):
        await desk.run(tmp_path / "third", other)
    await desk.link.nothing_heard()


async def test_failure_is_told_again_and_the_rest_goes_on(desk: Desk, tmp_path: Path) -> None:
    told: list[str] = []

    async def program(machine: AsyncMachine) -> None:
        try:
            await machine.click(1, 1)
        except farhand.InputFailed as error:
            told.append(f"{error.code} {error.members['injected_at_least']}")
        await machine.click(2, 1)
        if len(told) == 1:
            raise KilledError

    running = begun(desk.run(tmp_path / "file", program))
    failed = Failed(code="x_error", message="no", injected_at_least=1)
    assert await desk.obeyed(failed, None) == [1, 2]
    with pytest.raises(KilledError):
        await running
    await desk.run(tmp_path / "file", program)
    await desk.link.nothing_heard()
    assert told == ["x_error 1", "x_error 1"]


async def test_decision_is_made_once(tmp_path: Path) -> None:
    numbers = itertools.count()

    async def decide() -> int:
        return next(numbers)

    async def decided(*, is_killed: bool) -> list[int]:
        client = AsyncFarhand("http://127.0.0.1:1", "token")
        async with client, client.session("order", file=tmp_path / "file") as session:
            values = [await session.once(decide), await session.once(decide)]
            if is_killed:
                raise KilledError
            return [*values, await session.once(decide)]

    with pytest.raises(KilledError):
        await decided(is_killed=True)
    assert await decided(is_killed=False) == [0, 1, 2]


async def test_within_a_decision_nothing_is_sent(tmp_path: Path) -> None:
    client = AsyncFarhand("http://127.0.0.1:1", "token")

    async def decide() -> None:
        await session.machine("reception").click()

    session: AsyncSession
    async with client:
        with pytest.raises(farhand.SessionError, match="within once"):
            async with client.session("order", file=tmp_path / "file") as session:
                await session.once(decide)


class Ledger(httpx.BaseTransport):
    """A server that remembers keys.  ``ends`` says how inputs end at their first tries.

    ``moments`` are at which requests the program is killed: before one came (even numbers) and
    behind it (odd ones).
    """

    def __init__(self, ends: Mapping[int, Sequence[str]], moments: Sequence[int] = ()) -> None:
        self.happened: list[int] = []
        self._ends = {x: [*names] for x, names in ends.items()}
        self._moments = {*moments}
        self._times = itertools.count()
        self._known: dict[str, tuple[bytes, httpx.Response]] = {}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self._kill_if_it_is_time()
        key, said = request.headers["Idempotency-Key"], request.read()
        if key in self._known:
            first, response = self._known[key]
            assert first == said, "another input under the same key"
            response = httpx.Response(
                response.status_code,
                headers={**response.headers, "Idempotency-Replayed": "true"},
                content=response.content,
            )
        else:
            response = self._carry_out(json.loads(said)["x"])
            if response.status_code != 429:
                self._known[key] = said, response
        self._kill_if_it_is_time()
        return response

    def _kill_if_it_is_time(self) -> None:
        if next(self._times) in self._moments:
            raise KilledError(KILL)

    def _carry_out(self, x: int) -> httpx.Response:
        ends = self._ends.get(x)
        name = ends.pop(0) if ends else "completed"
        if name in ("completed", "outcome-unknown"):
            self.happened.append(x)
        if name == "completed":
            return httpx.Response(200, json=result())
        status = 429 if name == "machine-busy" else 502
        _, _, body = problem(name, status, final=status != 429).partition(b"\r\n\r\n")
        media = {"Content-Type": "application/problem+json", "Retry-After": "0"}
        return httpx.Response(status, headers=media, content=body)


ENDS = {2: ["not-carried-out"], 3: ["outcome-unknown"], 4: ["input-expired", "not-carried-out"]}
PLACES = range(1, 6)


def run(ledger: Ledger, file: Path) -> None:
    """The program: it goes on from what nobody knows."""
    with (
        Farhand("http://farhand", "token", transport=ledger) as client,
        client.session("order", file=file) as session,
    ):
        machine = session.machine("reception")
        for x in PLACES:
            with suppress(farhand.OutcomeUnknown):
                machine.click(session.once(partial(int, x)), 1)


def runs_until_it_is_done(ledger: Ledger, file: Path) -> Iterator[bytes]:
    """The file after each start of the program."""
    for _ in range(100):
        with suppress(KilledError):
            run(ledger, file)
            yield file.read_bytes()
            return
        yield file.read_bytes()
    raise AssertionError("it does not come to its end")


@contextmanager
def fast_disk() -> Iterator[None]:
    """One that is not waited for: what is tested here is what is written, and in which order."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", lambda _: None)
        yield


@settings(max_examples=60)
@given(moments=st.lists(st.integers(0, 24), max_size=8))
def test_killed_at_any_moments_each_input_happens_once_and_in_order(
    tmp_path_factory: pytest.TempPathFactory, moments: list[int]
) -> None:
    file = tmp_path_factory.mktemp("session") / "file"
    ledger = Ledger(ENDS, moments)
    with fast_disk():
        for _ in runs_until_it_is_done(ledger, file):
            assert ledger.happened == [*PLACES][: len(ledger.happened)]
    assert ledger.happened == [*PLACES]


def test_whatever_a_crash_leaves_of_the_file_nothing_happens_again(tmp_path: Path) -> None:
    """Cut at each line's end, and in the middle of each: the server knows the rest."""
    file = tmp_path / "file"
    ledger = Ledger(ENDS)
    with fast_disk():
        *_, whole = runs_until_it_is_done(ledger, file)
        ends = [0, *itertools.accumulate(map(len, whole.splitlines(keepends=True)))]
        for size in sorted({*ends[:-1], *(end - 5 for end in ends[1:])}):
            file.write_bytes(whole[:size])
            run(ledger, file)
            assert ledger.happened == [*PLACES]
            assert len(file.read_bytes().splitlines()) == len(whole.splitlines())
