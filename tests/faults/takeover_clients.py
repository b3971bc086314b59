"""HTTP clients that move the pointers of light machines, through any node, until that is final."""

import asyncio
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.faults.arrivals import Place
from tests.faults.history import Clock, FinalAnswer, Try
from tests.faults.inputs import place_of

PATIENCE_SECONDS = 12.0
RETRY_SECONDS = (0.2, 0.5)
"""Between two requests for one input, where no answer has said how long it shall be."""

JITTER_SECONDS = 0.1
"""By how much longer a client waits than an answer says."""

AGAIN = 0.2


@dataclass
class Move:
    """A move to a place that no other input has, and its final answers, of which one is enough."""

    machine: str
    place: Place
    key: str
    answers: list[FinalAnswer] = field(default_factory=list)
    requests: int = 0
    problems: list[str] = field(default_factory=list)
    seconds: float = 0.0
    """Until the first final answer."""

    @property
    def is_completed(self) -> bool:
        return bool(self.answers) and self.answers[0].status == 200


class Clients:
    """Send inputs under keys; ``ports`` says where nodes are in this moment.

    They ask again after what ``Retry-After`` says.  ``again`` is how many are asked for another
    time after their answer.  With ``is_balanced``, a connection that is refused is made to another
    node at once, as a load balancer does.
    """

    def __init__(self, token: str, clock: Clock, ports: Callable[[], Sequence[int]]) -> None:
        self.moves: list[Move] = []
        self._token = token
        self.clock = clock
        self._ports = ports
        self.again = AGAIN
        self.is_balanced = False

    async def move(self, machine: str, *, ports: Sequence[int] = ()) -> Move:
        """Ask until an answer is final, and sometimes once more; at these ``ports``, or at any."""
        number = len(self.moves)
        move = Move(machine, place_of(number), f"takeover-{number}")
        self.moves.append(move)
        asked_at = self.clock()
        await self._ask_until_final(move, ports)
        move.seconds = self.clock() - asked_at
        return move

    async def ask_again(self, move: Move) -> None:
        """Ask another time for what has its final answer."""
        await self._ask_until_final(move, ())

    async def load(self, machines: Sequence[str], rate: float, over: asyncio.Event) -> None:
        """Send so many new inputs a second, and wait until each has its answer."""
        async with asyncio.TaskGroup() as sending:
            while not over.is_set():
                sending.create_task(self._be_client(random.choice(machines)))
                await asyncio.sleep(random.expovariate(rate))

    async def _be_client(self, machine: str) -> None:
        move = await self.move(machine)
        if random.random() < self.again:
            await self.ask_again(move)

    async def _ask_until_final(self, move: Move, ports: Sequence[int]) -> None:
        asked = 0
        while True:
            # Another one than the last time, where there is another.
            found = [port for port in ports or self._ports() if port != asked]
            asked = random.choice(found or [asked])
            answer, seconds = await self._send(move, asked)
            move.requests += 1
            if answer.is_final:
                move.answers.append(answer.answer)
                return
            if self.is_balanced and answer.error == ConnectionRefusedError.__name__:
                continue
            move.problems.append(answer.problem or answer.error or str(answer.status))
            await asyncio.sleep(seconds)

    async def _send(self, move: Move, port: int) -> tuple[Try, float]:
        """What came of one request, and in how many seconds to repeat it."""
        sent_at, node = self.clock(), f"port {port}"
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                status, body, retry_after = await self._post(move, port)
        except (OSError, EOFError) as error:
            answer = Try(sent_at, self.clock(), node, 0, b"", type(error).__name__)
            return answer, random.uniform(*RETRY_SECONDS)
        seconds = random.uniform(*RETRY_SECONDS)
        if retry_after:
            seconds = float(retry_after) + random.uniform(0, JITTER_SECONDS)
        return Try(sent_at, self.clock(), node, status, body), seconds

    async def _post(self, move: Move, port: int) -> tuple[int, bytes, str]:
        body = json.dumps({"x": move.place.x, "y": move.place.y})
        head = (
            f"POST /v1/computer/{move.machine}/input/mouse/move HTTP/1.1\r\n"
            f"Host: 127.0.0.1:{port}\r\nConnection: close\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {self._token}\r\nIdempotency-Key: {move.key}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write((head + body).encode())
            answered = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = answered.partition("content-length: ")[2].partition("\r\n")[0]
            retry_after = answered.partition("retry-after: ")[2].partition("\r\n")[0]
            content = await reader.readexactly(int(length or 0))
            return int(answered.split()[1]), content, retry_after
        finally:
            writer.transport.abort()
