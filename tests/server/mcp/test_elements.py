"""What a model is told of elements, and how it names the one that it means."""

import asyncio
from typing import Any

import pytest

from farhand import AsyncFarhand, ElementAmbiguous, InvalidRequest
from schemas.inputs.outcomes import Point, Refused
from schemas.inputs.selectors import Sought
from schemas.link.messages import DesktopQuery, DesktopSeen, Display
from schemas.values.pictures import Region
from server.mcp.desk import Said
from server.mcp.elements import MOST_BY_ITSELF
from server.mcp.refusals import sentence
from server.mcp.tools import call
from tests.screens import Desk
from tests.service import Service
from tests.told_elements import element, telling, tells

WIDE = [Display(x=-1280, y=0, width=2560, height=1440)]
"""Which a screenshot shows at half of its size."""


def calling(service: Service, tool: str, **arguments: Any) -> "asyncio.Task[Said]":
    async def called() -> Said:
        async with AsyncFarhand(service.url, service.token, wait_for_machine=False) as farhand:
            return await call(farhand, tool, {"machine": "desk-1", **arguments}, {}, b"caller")

    return service.server.services.background.start(called(), "a call of the test")


async def viewed(desk: Desk) -> None:
    asked = await desk.heard(DesktopQuery)
    seen = DesktopSeen(request=asked.request, displays=WIDE, pointer=Point(x=0, y=0))
    await desk.link.say(seen)


async def test_elements_are_told_in_pixels_of_the_screenshot_and_without_what_says_nothing(
    service: Service,
) -> None:
    async with service.joined(telling()) as (machine, link):
        desk = Desk(service, machine, link)
        finding = calling(service, "find_elements", role="push button", window="Invoice*")
        await viewed(desk)
        here = Region(-1280 + 100, 200, 40, 20)
        asked = await tells(
            link,
            element(bounds=here),
            element(name="", ref="b"),
            truncated="time",
            silent=["stuck"],
        )
        assert (asked.sought, asked.limit) == (
            Sought(role="push button", window="Invoice*"),
            MOST_BY_ITSELF,
        )
        await tells(link, element())
        facts = (await finding).facts
        assert facts["elements"][0] == {
            "role": "push button",
            "name": "Save",
            "states": ["enabled", "showing"],
            "coordinate": [60, 105],
            "window": "Invoice 4711",
            "ref": "ref-push-button-Save",
        }
        assert "name" not in facts["elements"][1]
        assert (facts["truncated"], facts["silent"]) == ("time", ["stuck"])


async def test_what_is_at_a_place_of_the_screenshot_is_found(service: Service) -> None:
    async with service.joined(telling()) as (machine, link):
        finding = calling(service, "find_elements", coordinate=[60, 105], limit=3)
        await viewed(Desk(service, machine, link))
        asked = await tells(link)
        assert asked.at is not None
        assert (asked.at.x, asked.at.y, asked.limit) == (-1280 + 120, 210, 3)
        assert (await finding).facts == {"elements": []}


async def test_model_is_told_what_to_do_where_it_is_not_one(service: Service) -> None:
    async with service.joined(telling()) as (_, link):
        clicking = calling(service, "click_element", element_name="Save")
        await link.obey(
            Refused(code="element_ambiguous", message="hostile", loc=("body", "element"))
        )
        with pytest.raises(ElementAmbiguous) as refused:
            await clicking
        said = sentence(refused.value)
        assert "nothing was done" in said
        assert "hostile" not in said
        with pytest.raises(InvalidRequest, match="say what the element is"):
            await calling(service, "click_element", window="Invoice*")
