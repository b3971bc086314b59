"""What a machine tells of its elements, and what finds them again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from schemas.inputs.outcomes import Point
from schemas.inputs.selectors import Sought
from schemas.link.element_messages import ElementsQuery
from schemas.link.messages import DesktopQuery, DesktopSeen, Display, RequestFailed
from server.dispatch.here import elements
from server.dispatch.here.elements import MOST_ASKED_AGAIN, find_elements
from server.dispatch.questions.elements import ElementsFound, FindElements
from server.dispatch.questions.question import RefusalKind
from server.dispatch.refusals import RefusedError
from server.machines.screens import MAX_OPEN_ELEMENTS
from server.machines.socket import LinkSocket
from tests.links import hello
from tests.service import ScriptedLink, Service
from tests.told_elements import element, telling, tells

SAVE, CANCEL = element(), element(name="Cancel")


def question(service: Service, **fields: Any) -> FindElements:
    asked: dict[str, Any] = {"sought": Sought(), "at": None, "limit": 100, "depth": None, **fields}
    return FindElements(organization_id=service.organization_id, machine_id="desk-1", **asked)


@asynccontextmanager
async def desk(service: Service) -> AsyncIterator[tuple[LinkSocket, ScriptedLink]]:
    async with service.joined(telling()) as (machine, link):
        yield await machine.until_live(), link


def finding(link: LinkSocket, asked: FindElements) -> "asyncio.Task[ElementsFound]":
    return asyncio.create_task(find_elements(link, asked))  # noqa: TID251


async def test_whole_list_says_by_itself_what_finds_each(service: Service) -> None:
    async with desk(service) as (here, link):
        found = finding(here, question(service, sought=Sought(window="Invoice*")))
        asked = await tells(link, SAVE, CANCEL)
        assert (asked.sought.window, asked.limit, asked.at) == ("Invoice*", 100, None)
        assert [each.name for each in (await found).selectors] == ["Save", "Cancel"]
        assert (await found).elements == [SAVE, CANCEL]


async def test_what_is_at_a_place_is_told_apart_by_a_question_of_its_own(service: Service) -> None:
    async with desk(service) as (here, link):
        found = finding(here, question(service, at=Point(x=15, y=25)))
        nameless = element("panel", "", depth=1)
        assert (await tells(link, SAVE, nameless)).at == Point(x=15, y=25)
        again = await tells(link, SAVE, element(window="Invoice 4712", ref="other"))
        assert (again.sought, again.at) == (Sought(role="push button", name="Save"), None)
        save, panel = (await found).selectors
        assert save.window == "Invoice 4711"
        assert panel.model_dump() == {"ref": nameless.ref}
        await link.nothing_heard()


@pytest.mark.parametrize("why", [{"truncated": "size"}, {"silent": ["stuck"]}])
async def test_of_a_list_that_is_cut_the_first_are_told_apart(
    service: Service, why: dict[str, Any]
) -> None:
    told = [element(name=f"Save {number}") for number in range(MOST_ASKED_AGAIN + 1)]
    async with desk(service) as (here, link):
        found = finding(here, question(service))
        await tells(link, *told, **why)
        for each in told[: MOST_ASKED_AGAIN - 1]:
            await tells(link, each)
        # Nobody knows what else there is that is like it.
        await tells(link, told[MOST_ASKED_AGAIN - 1], **why)
        *names, unknown, last = (await found).selectors
        assert [each.name for each in names] == ["Save 0", "Save 1"]
        assert (unknown.ref, last.ref) == (told[-2].ref, told[-1].ref)
        assert (await found).truncated == why.get("truncated")


async def test_machine_that_tells_of_none_is_asked_nothing(service: Service) -> None:
    async with service.joined(hello()) as (machine, link):
        with pytest.raises(RefusedError, match="no accessibility bus") as refused:
            await find_elements(await machine.until_live(), question(service))
        refusal = refused.value.refusal
        assert (refusal.kind, refusal.retry_seconds) == (RefusalKind.NO_ELEMENTS, None)
        await link.nothing_heard()


async def test_machine_that_cannot_tell_now_says_why(service: Service) -> None:
    async with desk(service) as (here, link):
        found = finding(here, question(service))
        asked = await link.heard(ElementsQuery)
        failed = RequestFailed(
            request=asked.request, reason="it is gone", code="elements_unavailable"
        )
        await link.say(failed)
        with pytest.raises(RefusedError, match="it is gone") as refused:
            await found
        assert refused.value.refusal.reason == "no_elements"


async def test_place_beside_the_desktop_is_named(service: Service) -> None:
    async with desk(service) as (here, link):
        found = finding(here, question(service, at=Point(x=-1, y=0)))
        asked = await link.heard(ElementsQuery)
        failed = RequestFailed(request=asked.request, reason="no", code="outside", field="at")
        await link.say(failed)
        with pytest.raises(RefusedError) as refused:
            await found
        assert refused.value.refusal.loc == ("query", "at")


async def test_as_many_as_a_machine_may_be_asked(service: Service) -> None:
    async with desk(service) as (here, link):
        asking = [finding(here, question(service)) for _ in range(MAX_OPEN_ELEMENTS)]
        await asyncio.sleep(0)
        with pytest.raises(RefusedError) as busy:
            await find_elements(here, question(service))
        assert busy.value.refusal.kind is RefusalKind.BUSY
        # They take no place of those who look at the screen.
        looking = asyncio.create_task(here.screen.look(10))  # noqa: TID251
        for _ in asking:
            await tells(link)
        assert [(await each).elements for each in asking] == [[]] * MAX_OPEN_ELEMENTS
        seen = DesktopSeen(
            request=(await link.heard(DesktopQuery)).request,
            displays=[Display(x=0, y=0, width=9, height=9)],
            pointer=Point(x=0, y=0),
        )
        await link.say(seen)
        assert await looking == seen
        found = finding(here, question(service))
        await tells(link, SAVE)
        assert (await found).elements == [SAVE]


async def test_machine_that_does_not_answer(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elements, "ANSWER_SECONDS", 0.05)
    async with desk(service) as (here, _):
        with pytest.raises(RefusedError, match=r"did not answer within 0\.05 s"):
            await find_elements(here, question(service))


async def test_link_that_ends_meanwhile(service: Service) -> None:
    async with desk(service) as (here, link):
        found = finding(here, question(service))
        await link.heard(ElementsQuery)
        await link.websocket.close()
        with pytest.raises(RefusedError) as refused:
            await found
        assert refused.value.refusal.reason == "offline"
