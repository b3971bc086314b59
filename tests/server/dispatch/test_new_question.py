"""A new question is three places: its class, its answer on the node with the link, its route.

This one is asked nowhere else: nothing that encodes, sends, finds, waits or translates knows it.
"""

from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from schemas.resources.tokens import Scope
from server import app
from server.api.machines.asking import AskingHandler
from server.api.machines.paths import MachinePath
from server.api.routes import ROUTES
from server.dispatch.here import machines
from server.dispatch.here.machines import MachinesHere
from server.dispatch.questions.question import LinkQuestion, Reply
from server.dispatch.refusals import RefusedError, busy
from server.machines.socket import LinkSocket
from server.web.endpoint import Endpoint
from server.web.routing import Route
from tests.nats import NatsServer
from tests.nodes import running_nodes, until_reached

# 1. The class, and that of its reply.


class Echoed(Reply):
    """What was called, from where."""

    type: Literal["echoed"] = "echoed"
    text: str
    node: str


class Echo(LinkQuestion[Echoed]):
    """What comes back of a text?"""

    type: Literal["echo"] = "echo"
    text: str = Field(max_length=10)


# 2. Its answer, where the link is.

HEARD: list[tuple[str, str]] = []


async def echo(here: MachinesHere, link: LinkSocket, question: Echo) -> Echoed:
    """Give the text back, once; the second time the machine has enough of it."""
    HEARD.append((link.machine_id, question.text))
    if len(HEARD) > 2:
        raise RefusedError(busy("echoes as it may"))
    return Echoed(text=question.text, node=here._admission._node.name)


# 3. Its route.


class EchoBody(BaseModel):
    text: str


class EchoHandler(AskingHandler):
    @Endpoint(
        summary="Echo",
        scope=Scope.SCREEN_READ,
        path=MachinePath,
        body=EchoBody,
        answers={200: Echoed},
    )
    async def post(self, path: MachinePath, body: EchoBody) -> None:
        organization_id = self.principal.organization_id
        question = Echo(organization_id=organization_id, machine_id=path.machine_id, text=body.text)
        echoed = await self.ask(question)
        self.answer(200, echoed)


ROUTE = Route("/v1/computer/{machine_id}/echo", EchoHandler)
ECHO = "/v1/computer/desk-1/echo"


async def test_new_question_is_its_class_its_answer_and_its_route(
    mongodb: str,
    nats_server: NatsServer,
    database_name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    HEARD.clear()
    known: dict[type[LinkQuestion[Any]], Any] = dict(machines.ANSWERS)
    monkeypatch.setattr(machines, "ANSWERS", known | {Echo: echo})
    monkeypatch.setattr(app, "ROUTES", (*ROUTES, ROUTE))
    nats_server.start()
    async with running_nodes(mongodb, database_name, nats_server.url, tmp_path, "a", "b") as nodes:
        here, there = nodes
        machine = await here.new_machine()
        for node in nodes:
            reply = await node.post(ECHO, {"text": "hello"})
            assert (reply.status, reply.json["reason"]) == (503, "offline")
        async with machine.connected():
            await until_reached(there, machine)
            for node in nodes:
                reply = await node.post(ECHO, {"text": "hello"})
                assert (reply.status, reply.json["text"], reply.json["node"]) == (200, "hello", "a")
            assert HEARD == [("desk-1", "hello")] * 2
            for node in nodes:
                reply = await node.post(ECHO, {"text": "again"})
                assert (reply.status, reply.problem) == (429, "machine-busy")
                assert reply.headers["Retry-After"] == "1"
