import asyncio

import pytest

from server.bus import open_requests
from server.bus.bus import BusAwayError, ReplyLostError
from server.bus.open_requests import OpenRequests
from server.tasks import Tasks

LONG = 20.0


async def test_open_requests_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_requests, "MAX_OPEN_REQUESTS", 2)
    requests = OpenRequests()
    first, _ = requests.open(), requests.open()
    with pytest.raises(BusAwayError, match="open already"):
        requests.open()
    requests.succeed(first, b"x")
    assert await requests.reply_to(first, LONG) == b"x"
    requests.open()


async def test_pieces_that_wait_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_requests, "MAX_WAITING_BYTES", 10)
    requests = OpenRequests()
    first, second = requests.open(), requests.open()
    requests.add_piece(first, 1, 2, b"x" * 6)
    requests.add_piece(second, 1, 2, b"x" * 6)
    with pytest.raises(ReplyLostError, match="too many long replies"):
        await requests.reply_to(second, LONG)
    assert requests.refused == 1
    requests.add_piece(first, 2, 2, b"y" * 4)
    assert await requests.reply_to(first, LONG) == b"xxxxxxyyyy"
    third = requests.open()
    requests.add_piece(third, 1, 1, b"x" * 10)
    assert await requests.reply_to(third, LONG) == b"x" * 10


async def test_pieces_of_a_request_that_is_given_up_are_forgotten() -> None:
    requests, tasks = OpenRequests(), Tasks()
    token = requests.open()
    waiting = tasks.start(requests.reply_to(token, LONG), "a request")
    await asyncio.sleep(0)
    requests.add_piece(token, 1, 2, b"xxx")
    assert requests._waiting_bytes == 3
    waiting.cancel()
    await asyncio.wait({waiting})
    assert requests._waiting_bytes == 0
    assert len(requests) == 0
    requests.add_piece(token, 2, 2, b"xxx")
    requests.succeed(token, b"")
    requests.fail(token, ReplyLostError("x"))
    assert requests.refused == 0


async def test_all_end_when_the_connection_does() -> None:
    requests = OpenRequests()
    tokens = [requests.open() for _ in range(3)]
    requests.succeed(tokens[0], b"x")
    requests.fail_all("gone")
    ended = await asyncio.gather(
        *(requests.reply_to(token, LONG) for token in tokens), return_exceptions=True
    )
    assert ended[0] == b"x"
    assert [type(each) for each in ended[1:]] == [ReplyLostError] * 2
