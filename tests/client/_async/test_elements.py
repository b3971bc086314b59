"""The elements of a machine in a program's hands."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from typing import TypeVar

import pytest

import farhand
from farhand import AsyncFarhand, actions
from farhand._async.machine import AsyncMachine
from schemas.inputs.bodies import Operation
from schemas.inputs.outcomes import Refused
from schemas.link.messages import Input, Look, Seen
from schemas.values.pictures import Region
from tests.service import ScriptedLink, Service
from tests.told_elements import element, telling, tells

Result = TypeVar("Result")
SAVE = {"role": "push button", "name": "Save"}


@asynccontextmanager
async def desk(service: Service) -> AsyncIterator[tuple[AsyncMachine, ScriptedLink]]:
    async with (
        service.joined(telling()) as (machine, link),
        AsyncFarhand(service.url, service.token, timeout=30) as client,
    ):
        yield client.machine(machine.machine_id), link


async def obeyed(link: ScriptedLink, call: Awaitable[Result]) -> tuple[Result, Input]:
    calling = asyncio.ensure_future(call)  # noqa: TID251 - the caller, beside the machine
    command = await link.obey()
    return await calling, command


async def test_elements_are_found_and_clicked_by_what_finds_them_again(service: Service) -> None:
    async with desk(service) as (machine, link):
        finding = asyncio.ensure_future(  # noqa: TID251
            machine.elements(role="push button", window="Invoice*", at=None, limit=5)
        )
        asked = await tells(link, element(value="a"), element(name="Cancel"))
        assert (asked.sought.role, asked.sought.window, asked.limit) == (
            "push button",
            "Invoice*",
            5,
        )
        save, cancel = (await finding).items
        assert (save.name, save.value) == ("Save", "a")
        assert save.bounds is not None
        assert save.bounds.width == 80
        assert save.selector == {**SAVE, "window": "Invoice*"}
        assert cancel.selector["name"] == "Cancel"
        for call, operation, field in (
            (machine.click(element=save), Operation.MOUSE_CLICK, "element"),
            (machine.move(element=save), Operation.MOUSE_MOVE, "element"),
            (machine.scroll("down", 1, element=save), Operation.MOUSE_SCROLL, "element"),
            (machine.drag(1, 2, to_element=save), Operation.MOUSE_DRAG, "to_element"),
            (machine.invoke(save), Operation.ELEMENT_INVOKE, "element"),
            (machine.focus(save), Operation.ELEMENT_FOCUS, "element"),
            (machine.set_value(save, "4711"), Operation.ELEMENT_SET_VALUE, "element"),
            (machine.set_value(save.selector, 0.5), Operation.ELEMENT_SET_VALUE, "element"),
        ):
            done, command = await obeyed(link, call)
            assert (command.operation, command.body[field]) == (operation, save.selector)
            assert done.status == "completed"


async def test_one_element_is_found_or_it_is_said_why_not(service: Service) -> None:
    async with desk(service) as (machine, link):
        found = asyncio.ensure_future(machine.element("push button", "Save"))  # noqa: TID251
        assert (await tells(link, element())).limit == 2
        assert (await found).ref == "ref-push-button-Save"
        found = asyncio.ensure_future(machine.element("push button", "Save"))  # noqa: TID251
        await tells(link)
        with pytest.raises(farhand.ElementMissing, match="role 'push button', name 'Save'"):
            await found
        found = asyncio.ensure_future(machine.element(name="Save"))  # noqa: TID251
        await tells(link, element(), element(ref="b"))
        with pytest.raises(farhand.ElementAmbiguous) as several:
            await found
        assert (several.value.status, several.value.may_have_happened) == (409, False)


async def test_element_that_is_missing_is_an_error_of_its_own(service: Service) -> None:
    async with desk(service) as (machine, link):
        clicking = asyncio.ensure_future(  # noqa: TID251
            machine.click(element=actions.element("push button", "Save"))
        )
        missing = Refused(code="element_missing", message="it is covered", loc=("body", "element"))
        command = await link.obey(missing)
        assert command.body["element"] == SAVE
        with pytest.raises(farhand.ElementMissing, match="it is covered") as refused:
            await clicking
        assert refused.value.final
        assert not refused.value.may_have_happened


async def test_element_is_waited_for(service: Service) -> None:
    async with desk(service) as (machine, link):
        waiting = asyncio.ensure_future(  # noqa: TID251
            machine.wait(actions.seen(SAVE, gone=True), element=SAVE, timeout=60)
        )
        look = await link.heard(Look)
        assert [each.model_dump() for each in look.any] == [
            {"element": SAVE, "gone": True},
            {"element": SAVE, "gone": False},
        ]
        seen = Seen(request=look.request, matched=1, at=Region(1, 2, 3, 4), elapsed=0.5)
        await link.say(seen)
        assert (await waiting).matched == 1
