"""A hand whose websocket is on another node than its machine's link."""

import asyncio

from schemas.inputs.outcomes import Failed
from schemas.link.messages import Input, Interrupt, Interrupted
from tests.hand_client import HandClient, button, hand_path, key, move, stroke
from tests.nodes import until_reached
from tests.service import PATIENCE_SECONDS, Service


async def test_order_is_kept_through_another_node_and_moves_are_merged(
    nodes: list[Service],
) -> None:
    here, elsewhere = nodes
    async with here.joined() as (machine, link):
        await until_reached(elsewhere, machine)
        background = here.server.services.background
        taking = background.start(elsewhere.post("/v1/machines/desk-1/control"), "take control")
        await link.say(Interrupted(request=(await link.heard(Interrupt)).request))
        path = hand_path("desk-1", (await taking).json["id"])
        async with HandClient.on(elsewhere.url, path, here.token) as hand:
            await hand.does(button(True, x=1, y=1), *(move(x, 1) for x in range(2, 50)))
            await hand.does(*stroke("a"), key("shift", True), button(False))
            press = await link.heard(Input)
            # Nothing follows before it is acknowledged.
            await link.nothing_heard()
            await link.acknowledge(press.command_id)
            moved = await link.obey()
            assert (moved.body["x"], len(moved.body["path"])) == (49, 47)
            done = [await link.obey() for _ in range(4)]
            assert [(each.body.get("text"), each.body["down"]) for each in done] == [
                ("a", True),
                ("a", False),
                ("shift", True),
                (None, False),
            ]
            await hand.until_acknowledged()
        released = await link.obey()
        assert (released.body["text"], released.body["down"]) == ("shift", False)
        # All of it is in the audit once, and as a stretch.
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not (await here.get("/v1/audit?action=control.worked")).json["items"]:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert (await here.get("/v1/audit?action=input")).json["items"] == []


async def test_what_is_held_is_released_after_its_press_and_not_before(
    nodes: list[Service],
) -> None:
    """Nothing on the way between nodes keeps an order, so a release would overtake the press."""
    here, elsewhere = nodes
    async with here.joined() as (machine, link):
        await until_reached(elsewhere, machine)
        background = here.server.services.background
        taking = background.start(elsewhere.post("/v1/machines/desk-1/control"), "take control")
        await link.say(Interrupted(request=(await link.heard(Interrupt)).request))
        path = hand_path("desk-1", (await taking).json["id"])
        async with HandClient.on(elsewhere.url, path, here.token) as hand:
            await hand.does(button(True, x=1, y=1))
            press = await link.heard(Input)
        await link.nothing_heard()
        await link.acknowledge(press.command_id)
        released = await link.obey()
        assert (released.body["button"], released.body["down"]) == ("left", False)


async def test_what_was_not_released_is_released_again(nodes: list[Service]) -> None:
    here, _ = nodes
    machine = await here.new_machine()
    busy = Failed(code="already_down", message="somebody else holds it", injected_at_least=0)
    async with machine.connected() as link:
        background = here.server.services.background
        taking = background.start(here.post("/v1/machines/desk-1/control"), "take control")
        await link.say(Interrupted(request=(await link.heard(Interrupt)).request))
        path = hand_path("desk-1", (await taking).json["id"])
        for ends_before in (False, True):
            async with HandClient.on(here.url, path, here.token) as hand:
                await hand.does(button(True, x=1, y=1), key("a", True))
                await link.obey()
                await link.obey()
                await hand.does(button(False), key("a", False))
                up = [await link.heard(Input) for _ in range(2)]
                if not ends_before:
                    await link.acknowledge(up[0].command_id, busy)
                    again = await link.obey()
                    await link.acknowledge(up[1].command_id, busy)
                    again_too = await link.obey()
            if ends_before:
                await link.nothing_heard()
                for each in up:
                    await link.acknowledge(each.command_id, busy)
                again, again_too = await link.obey(), await link.obey()
            assert [again.body["down"], again_too.body["down"]] == [False, False]
            assert {each.body.get("button") for each in (again, again_too)} == {"left", None}
            assert "a" in {each.body.get("text") for each in (again, again_too)}


async def test_release_after_a_refusal_undoes_no_later_press(nodes: list[Service]) -> None:
    here, _ = nodes
    machine = await here.new_machine()
    busy = Failed(code="already_down", message="somebody else holds it", injected_at_least=0)
    async with machine.connected() as link:
        background = here.server.services.background
        taking = background.start(here.post("/v1/machines/desk-1/control"), "take control")
        await link.say(Interrupted(request=(await link.heard(Interrupt)).request))
        path = hand_path("desk-1", (await taking).json["id"])
        async with HandClient.on(here.url, path, here.token) as hand:
            await hand.does(key("ctrl", True))
            await link.obey()
            await hand.does(button(True, x=1, y=1))
            await link.obey()
            await hand.does(key("b", True))
            refused = await link.heard(Input)
            await link.acknowledge(refused.command_id, busy)
            # The keys are released first; meanwhile the button is pressed again.
            keys = await link.heard(Input)
            assert (keys.body["text"], keys.body["down"]) == ("ctrl b", False)
            await hand.does(button(False), button(True, x=5, y=5))
            again = [await link.heard(Input) for _ in range(2)]
            assert [each.body["down"] for each in again] == [False, True]
            await link.acknowledge(keys.command_id)
            for each in again:
                await link.acknowledge(each.command_id)
            await hand.does(key("c", True))
            last = await link.obey()
            assert (last.body.get("text"), last.body["down"]) == ("c", True)
