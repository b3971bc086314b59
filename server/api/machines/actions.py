"""Several actions in one request: one command, and pictures of what came of it."""

import asyncio
import json
import time
from dataclasses import replace

from pydantic import JsonValue
from pydantic_core import to_json

from schemas.http import problems
from schemas.http.problems import InvalidRequestError
from schemas.inputs.actions import Actions, TakePicture, WaitFor
from schemas.resources.machines import ActionsResult
from schemas.resources.tokens import Scope
from server.api.looks.pictures import fetched
from server.api.looks.sights import all_sought
from server.api.machines.answers import Answer, answer_to
from server.api.machines.paths import MachinePath
from server.api.machines.sending import (
    InputHandler,
    InputHeaders,
    input_endpoint,
    names_element,
)
from server.dispatch.command import Ended
from server.dispatch.questions.screens import FetchPicture

MAX_BODY_BYTES = 128 * 1024
MAX_BODY_VALUES = 20_000
"""Enough for paths that fill the body."""

PICTURES_SECONDS = 20.0
"""For the pictures of an answer to be fetched, which waits for them; later ones are left out."""


ACTIONS = replace(
    input_endpoint("Carry out several actions", Actions),
    description="Up to 50 inputs, pauses, waits and pictures, one after another as one "
    "command, under one Idempotency-Key, which several need.  All of it is checked before any "
    "of it is done, and it ends with the first action that is not completed: 200 is that all "
    "of it is done.",
    answers={200: ActionsResult},
    max_body_bytes=MAX_BODY_BYTES,
    max_body_values=MAX_BODY_VALUES,
    problems=(
        *input_endpoint("", Actions).problems,
        problems.ACTIONS_STOPPED,
        problems.NO_ELEMENTS,
        problems.NOT_INSTALLED,
    ),
)


class ActionsHandler(InputHandler):
    @ACTIONS
    async def post(self, path: MachinePath, headers: InputHeaders, body: Actions) -> None:
        if len(body.actions) > 1 and headers.idempotency_key is None:
            raise _key_is_missing()
        if body.looks or any(map(names_element, body.actions)):
            self.principal.require(Scope.SCREEN_READ)
        if body.looks:
            self.services.machines.looks.check_room()
            body = await _with_sights(self, body)
        if body.copies:
            self.principal.require(Scope.CLIPBOARD)
        ended = await self.ended(path, headers, body, minimal=False)
        answer = answer_to(ended)
        if body.looks and not ended.is_replayed:
            answer = await self._with_pictures(answer, ended, body)
        self.answer_end(answer, ended)

    async def _with_pictures(self, answer: Answer, ended: Ended, body: Actions) -> Answer:
        """An answer with the pictures that were taken, which no replay has."""
        content = json.loads(answer.body)
        results = content.get("actions")
        if results is None:
            return answer  # Nothing was begun.
        give_up_at = time.monotonic() + PICTURES_SECONDS
        for number, action in enumerate(body.actions[: len(results)]):
            if isinstance(action, TakePicture) and results[number]["status"] == "completed":
                results[number]["picture"] = await self._picture(ended, number, give_up_at)
        if body.screenshot is not None:
            content["screenshot"] = await self._picture(ended, None, give_up_at)
        # As the ledger has it, so that without a picture it is the same byte for byte.
        return replace(answer, body=await asyncio.to_thread(to_json, content))

    async def _picture(self, ended: Ended, number: int | None, give_up_at: float) -> JsonValue:
        if time.monotonic() > give_up_at:
            return {"left_out": "the pictures before it took too long to come"}
        question = FetchPicture(
            **self.looking_at(ended.machine_id),
            command_id=ended.command_id,
            action=number,
            since=ended.accepted_at,
        )
        return await fetched(self, question, ACTIONS)


async def _with_sights(handler: InputHandler, body: Actions) -> Actions:
    """The same, where all can be looked for that is waited for."""
    waits = {number: each for number, each in enumerate(body.actions) if isinstance(each, WaitFor)}
    places = {number: ("body", "actions", str(number), "any") for number in waits}
    found = await all_sought(handler, [(waits[each].any, places[each]) for each in waits])
    actions = [*body.actions]
    for (number, wait), conditions in zip(waits.items(), found, strict=True):
        actions[number] = wait.model_copy(update={"any": conditions})
    return body.model_copy(update={"actions": tuple(actions)})


def _key_is_missing() -> InvalidRequestError:
    return InvalidRequestError.single(
        ("header", "Idempotency-Key"),
        "several actions need an Idempotency-Key: without one, a retry would do again what was "
        "done already",
        "missing",
    )
