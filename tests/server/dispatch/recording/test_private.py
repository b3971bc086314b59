"""What a recording has of the time in which somebody had private control: that it was so."""

import json
import re
from typing import Any

from schemas.values.times import parse_time
from tests.pictures import picture
from tests.private_machine import (
    COMPUTER,
    OPEN,
    SECRET,
    SHADES,
    Somebody,
    private_machine,
    with_token,
)
from tests.server.api.machines.test_recordings import begun, steps_of, stopped
from tests.service import Service


async def clicks(who: Somebody, x: int, lease: str = "") -> None:
    """Click on the machine, in or without control."""
    headers = {"Farhand-Control": lease} if lease else {}
    body = {"x": x, "y": 25}
    reply = await who.ask("POST", f"{COMPUTER}/input/mouse/click", body, **headers)
    assert reply.status == 200, reply.body


async def pictures_of(service: Service, steps: list[dict[str, Any]]) -> list[bytes]:
    names = [step.get(field) for step in steps for field in ("picture", "picture_after")]
    return [(await service.get(f"/v1/pictures/{each}")).body for each in names if each]


async def test_nothing_is_recorded_of_private_control_but_that_it_was_so(
    nodes: list[Service],
) -> None:
    here, there = nodes
    who = with_token(there, there.token)
    async with private_machine(nodes) as machine:
        recording = await begun(here)
        await clicks(who, 11)
        lease = await who.takes(private=True)
        await machine.turn(SECRET)
        await clicks(who, 12, lease)
        await machine.turn(OPEN)
        await who.makes_private(lease, private=False)
        await clicks(who, 13, lease)
        await who.makes_private(lease)
        await machine.turn(SECRET)
        await clicks(who, 14, lease)
        ended = await stopped(here, recording)
        steps = await steps_of(here, recording)
        shown = await pictures_of(here, steps)
        # Nor does one look that begins meanwhile.
        machine.live = None
        later = await begun(here)
        assert machine.live is None
        await stopped(here, later)
        assert [step["operation"] for step in await steps_of(here, later)] == ["gap"]
        # What is under way when it begins, or ends, may be private in part.
        assert ended["gaps"] == 2
    assert [step["body"].get("x") for step in steps] == [11, None, 13, None]
    assert SECRET not in json.dumps(steps)
    assert picture("jpeg", shade=SHADES[SECRET]) not in shown
    for gap in steps[1::2]:
        times = re.fullmatch(
            r"Private control: what was done from (\S+) to (\S+) was not recorded\.",
            gap["body"]["reason"],
        )
        assert times is not None
        assert parse_time(times[1]) <= parse_time(times[2])
