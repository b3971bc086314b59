"""Who sees what of a machine of which somebody has private control, on two nodes."""

import asyncio
from collections import Counter
from collections.abc import Iterator

import pytest
from tornado.ioloop import IOLoop

from schemas.inputs.pictures import PictureWanted
from schemas.resources.tokens import ADMINISTRATOR_SCOPES
from server.dispatch.control import Caller
from server.dispatch.dispatcher import Watch
from server.dispatch.questions.question import Refusal
from server.dispatch.questions.screens import FetchPicture, TakeScreenshot
from server.dispatch.questions.texts import ReadTexts
from server.dispatch.recording.frames import LIVE
from server.machines.privacy import NOBODY
from tests.events import listening
from tests.mcp_client import call, pictures_of, refusal_of
from tests.pictures import PictureStream, picture
from tests.private_machine import (
    COMPUTER,
    OPEN,
    SECRET,
    SHADES,
    WAYS,
    PrivateMachine,
    Somebody,
    private_machine,
    seen_in_batch,
    with_token,
)
from tests.screens import read
from tests.server.api.test_console import signed_in
from tests.service import Service
from tests.store import entered

PRIVATE = "private"
STREAM = "/v1/computer/desk-1/display/stream"
ROUNDS = 60
"""Of looks while control changes; 200 were tried."""

MOST_SECRET = picture("jpeg", shade=SHADES[SECRET])


@pytest.fixture
def machine(io_loop: IOLoop, nodes: list[Service]) -> Iterator[PrivateMachine]:
    with entered(io_loop, private_machine(nodes)) as machine:
        yield machine


async def another(node: Service) -> Somebody:
    """A program with a token of its own."""
    return with_token(node, await node.new_token(*ADMINISTRATOR_SCOPES))


async def look_at(who: Somebody, way: str) -> str:
    """What somebody sees in one way."""
    return await WAYS[way](who)


async def seen_by(people: dict[str, Somebody], nodes: list[Service]) -> dict[tuple[str, ...], str]:
    """What each of them sees in every way there is, through each node."""
    found: dict[tuple[str, ...], str] = {}
    for name, who in people.items():
        for node, place in zip(nodes, "ab", strict=True):
            for way, look in WAYS.items():
                found[name, place, way] = await look(who.at(node))
    return found


async def test_one_alone_sees_the_machine_until_control_is_given_back(
    nodes: list[Service], machine: PrivateMachine
) -> None:
    here, there = nodes
    people = {
        "program": with_token(there, there.token),
        "another": await another(here),
        "browser": Somebody(here, await signed_in(here)),
        "another browser": Somebody(there, await signed_in(there)),
    }
    for holder in ("program", "browser"):
        await machine.turn(OPEN)
        assert set((await seen_by(people, nodes)).values()) == {OPEN}
        lease = await people[holder].takes(private=True)
        await machine.turn(SECRET)
        for key, seen in (await seen_by(people, nodes)).items():
            assert (*key, seen) == (*key, SECRET if key[0] == holder else PRIVATE)
        await people[holder].makes_private(lease, private=False)
        await machine.turn(OPEN)
        assert set((await seen_by(people, nodes)).values()) == {OPEN}
        await people[holder].gives_back(lease)


async def test_pictures_of_actions_texts_and_tools_are_the_holders_too(
    nodes: list[Service], machine: PrivateMachine
) -> None:
    here, there = nodes
    holder, other = with_token(there, there.token), await another(here)
    assert await seen_in_batch(other) == OPEN
    lease = await holder.takes(private=True)
    await machine.turn(SECRET)
    assert await seen_in_batch(holder, lease) == SECRET
    assert await seen_in_batch(other) == "controlled"
    wanted = {"machine": "desk-1"}
    for node in nodes:
        assert pictures_of(await call(node, "screenshot", wanted, token=holder.token))
        refused = await call(node, "screenshot", wanted, token=other.token)
        assert "private control" in refusal_of(refused)
        about = {"organization_id": here.organization_id, "machine_id": "desk-1"}
        dispatcher = node.server.services.machines.dispatcher
        fetch = FetchPicture(**about, command_id=here.organization_id, action=None)
        read = ReadTexts(**about, region=None)
        for answer in (await dispatcher.ask(fetch), await dispatcher.ask(read)):
            assert isinstance(answer, Refusal)
            assert answer.reason == PRIVATE
    await holder.gives_back(lease)
    # What was taken meanwhile is nobody else's afterwards, whenever it is asked for.
    caller = Caller(here.organization_id, "somebody")
    before = FetchPicture(**about, looker=caller.looker, command_id=caller.token_id, action=None)
    late = await here.server.services.machines.dispatcher.ask(before)
    assert isinstance(late, Refusal)
    assert late.reason == PRIVATE


async def test_streams_of_others_end_and_begin_with_what_is_shown_afterwards(
    nodes: list[Service], machine: PrivateMachine
) -> None:
    holder, other = with_token(nodes[1], nodes[1].token), await another(nodes[0])
    for node in nodes:
        watching = [
            await PictureStream.open(node.url, STREAM, each.token) for each in (holder, other)
        ]
        own, others = watching
        for stream in watching:
            assert (await read(stream)).content == picture("jpeg", shade=SHADES[OPEN])
        lease = await holder.takes(private=True)
        await machine.turn(SECRET)
        parts = []
        while (part := await others.part()) is not None:
            parts.append(part.content)
        assert MOST_SECRET not in parts
        await others.close()
        while (await read(own)).content != MOST_SECRET:
            pass
        async with await PictureStream.open(node.url, STREAM, other.token) as refused:
            assert refused.status == 503
        await machine.turn(OPEN)
        await holder.gives_back(lease)
        async with await PictureStream.open(node.url, STREAM, other.token) as again:
            assert (await read(again)).content == picture("jpeg", shade=SHADES[OPEN])
        await own.close()


async def test_one_who_begins_to_watch_later_is_not_shown_the_last_private_picture(
    nodes: list[Service], machine: PrivateMachine
) -> None:
    holder, other = with_token(nodes[1], nodes[1].token), await another(nodes[0])
    lease = await holder.takes(private=True)
    own = await PictureStream.open(nodes[0].url, STREAM, holder.token)
    await read(own)
    await machine.turn(SECRET)
    while (await read(own)).content != MOST_SECRET:
        pass
    # The machine says no more of its screen than it is asked.
    machine.shows = OPEN
    await holder.gives_back(lease)
    async with await PictureStream.open(nodes[0].url, STREAM, other.token) as stream:
        assert (await read(stream)).content == picture("jpeg", shade=SHADES[OPEN])
    await own.close()


async def test_nothing_of_what_is_private_comes_of_looks_that_were_under_way(
    nodes: list[Service], machine: PrivateMachine
) -> None:
    holder, other = with_token(nodes[0], nodes[0].token), await another(nodes[0])
    machine.delay, seen = 0.03, Counter[str]()
    ways = ("screenshot", "elements", "clipboard", "wait")
    lease = await holder.takes()
    for number in range(ROUNDS):
        node, begin = nodes[number % 2], asyncio.get_running_loop().create_task
        looks = [begin(look_at(other.at(node), ways[number // each % 4])) for each in (1, 4)]
        # Each way to have it private is as good as the other; the one takes ten times as long.
        if number % 10 == 0:
            await holder.gives_back(lease)
            lease = await holder.takes(private=True)
        else:
            await holder.at(node).makes_private(lease)
        machine.shows = SECRET
        looks.append(begin(look_at(other.at(node), "screenshot")))
        await asyncio.sleep(0.01)
        machine.shows = OPEN
        await holder.at(nodes[number // 2 % 2]).makes_private(lease, private=False)
        seen.update(await asyncio.gather(*looks))
    assert seen.keys() == {OPEN, PRIVATE}


async def test_event_of_an_input_does_not_tell_where_the_pointer_is(
    nodes: list[Service], machine: PrivateMachine
) -> None:
    here, there = nodes
    holder = with_token(there, there.token)
    lease = await holder.takes(private=True)
    async with listening(here, "?types=command") as told:
        for private, pointer in ((True, None), (False, {"x": 0, "y": 0})):
            await holder.makes_private(lease, private=private)
            click = f"{COMPUTER}/input/mouse/click"
            reply = await holder.ask("POST", click, {"x": 1, "y": 1}, **{"Farhand-Control": lease})
            assert reply.status == 200
            assert (await told.next()).data["pointer"] == pointer


async def test_machine_that_comes_back_is_private_from_its_first_moment(
    nodes: list[Service], machine: PrivateMachine
) -> None:
    holder, other = with_token(nodes[0], nodes[0].token), await another(nodes[0])
    await holder.takes(private=True)
    machine.shows = SECRET
    for _ in range(5):
        seen = set[str]()
        coming = asyncio.get_running_loop().create_task(machine.connect())
        while not coming.done() or PRIVATE not in seen:
            seen |= {await WAYS["screenshot"](other.at(node)) for node in nodes}
        await coming
        assert SECRET not in seen
        assert await WAYS["screenshot"](holder) == SECRET


async def test_who_does_not_say_who_they_are_sees_nothing_private(
    nodes: list[Service], machine: PrivateMachine
) -> None:
    await with_token(nodes[0], nodes[0].token).takes(private=True)
    about = nodes[0].organization_id, "desk-1"
    wanted = PictureWanted()
    unsaid = TakeScreenshot(organization_id=about[0], machine_id=about[1], wanted=wanted)
    assert unsaid.looker == NOBODY
    for node in nodes:
        watch = Watch(*about, options=LIVE, name="nobody", looker=NOBODY)
        answer = await node.server.services.machines.dispatcher.ask(watch)
        assert isinstance(answer, Refusal)
        assert answer.reason == PRIVATE
