"""Links that flood, on real websockets: closed soon, and not listened to after that."""

from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode

from schemas.link.close_codes import CloseCode
from server.machines.link.frame_budget import BURST
from server.machines.websocket.counted_frames import CountedFrames
from tests.service import ScriptedLink, Service, until

Flood = Callable[[ScriptedLink], Awaitable[None]]
FLOODS: list[Flood] = []
MORE_THAN_ENOUGH = 40 * BURST


def flood(function: Flood) -> Flood:
    """One of many that a machine sends without being asked."""
    FLOODS.append(function)
    return function


@flood
async def ping(link: ScriptedLink) -> None:
    await link.websocket.ping()


@flood
async def pong(link: ScriptedLink) -> None:
    await link.websocket.pong()


@flood
async def part_of_a_message_that_never_ends(link: ScriptedLink) -> None:
    connection = link.websocket
    frame = Frame(Opcode.CONT, b"", fin=False)
    connection.transport.write(frame.serialize(mask=True))
    # It is not the library's own writing, so its end has to be looked for.
    if connection.transport.is_closing():
        raise ConnectionClosed(None, None)


@pytest.mark.parametrize("does", FLOODS, ids=lambda each: each.__name__)
async def test_link_that_floods_is_closed_and_then_not_heard(
    service: Service, monkeypatch: pytest.MonkeyPatch, does: Flood
) -> None:
    frames, receive = 0, CountedFrames._receive_frame

    async def counted(protocol: CountedFrames) -> None:
        nonlocal frames
        frames += 1
        await receive(protocol)

    machine, other = await service.new_machine(), await service.new_machine("desk-2")
    async with machine.connected() as link, other.connected() as other_link:
        flooding = await machine.until_live()
        monkeypatch.setattr(CountedFrames, "_receive_frame", counted)
        if does is part_of_a_message_that_never_ends:
            link.websocket.transport.write(Frame(Opcode.TEXT, b"", fin=False).serialize(mask=True))
        with suppress(ConnectionClosed, ConnectionError):
            for _ in range(MORE_THAN_ENOUGH):
                await does(link)
        await until(lambda: flooding not in set(service.server.services.machines.registry))
        assert flooding.over_code is CloseCode.OVERFLOW
        assert "frames at once" in flooding.over_reason
        # What its budget gained while it was spent is the rest; all of it were many times more.
        assert frames < MORE_THAN_ENOUGH / 4
        await other_link.obeys(other.moving())


async def test_pings_are_a_flood_sooner_than_what_is_not_answered(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with service.joined() as (machine, link):
        flooding = await machine.until_live()
        # However long it takes to send them, no time passes in which more might be sent.
        began_at = flooding._clock()
        monkeypatch.setattr(flooding._link._budget, "_clock", lambda: began_at)
        with suppress(ConnectionClosed, ConnectionError):
            for _ in range(BURST // 2):
                await link.websocket.ping()
        await until(lambda: flooding.is_over)
        assert flooding.over_code is CloseCode.OVERFLOW
