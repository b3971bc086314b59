"""Waits for the screen of a machine whose link is on another node."""

import asyncio

import pytest

from schemas.link.messages import Look, LookStop, Seen
from server.dispatch.here import waits
from server.errors import StoreUnavailable
from tests.nodes import until_reached
from tests.screens import connected, counted_questions
from tests.service import Service, until

WAIT = "/v1/computer/desk-1/wait"
BODY = {"any": [{"still": 0.5}], "timeout": 60}


async def test_wait_is_answered_whichever_node_is_asked(
    nodes: list[Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = counted_questions(monkeypatch)
    here, there = nodes
    async with connected(here) as desk:
        await until_reached(there, desk.machine)
        asking = there.server.services.background.start(there.post(WAIT, BODY), "a client")
        look = await desk.heard(Look)
        await until(lambda: len(questions) >= 3)
        await desk.link.say(Seen(request=look.request, matched=0, at=None, elapsed=0.5))
        assert (await asking).json["matched"] == 0


async def test_machine_looks_no_more_when_the_node_that_asked_is_gone(
    nodes: list[Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waits, "POLL_SECONDS", 0.05)
    monkeypatch.setattr(waits, "GONE_SECONDS", 0.2)
    here, there = nodes
    async with connected(here) as desk:
        await until_reached(there, desk.machine)
        asking = there.server.services.background.start(there.post(WAIT, BODY), "a client")
        look = await desk.heard(Look)
        # As kill -9 does: nobody says that it is over, and nobody asks any more.
        elsewhere = there.server.services.cluster.elsewhere
        unanswered: asyncio.Future[None] = asyncio.Future()
        monkeypatch.setattr(elsewhere, "ask", lambda _: unanswered)
        assert (await desk.heard(LookStop)).request == look.request
        # The node's end does not wait for a request that is not answered.
        unanswered.set_exception(StoreUnavailable("The database does not answer."))
        assert (await asking).status == 503
