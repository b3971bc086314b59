"""A machine as the computer of OpenAI's Responses API."""

import base64
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from openai import AsyncOpenAI
from openai.types.responses import Response, ResponseComputerToolCall, ResponseInputItemParam
from openai.types.responses.response_computer_tool_call_output_screenshot_param import (
    ResponseComputerToolCallOutputScreenshotParam,
)

from farhand._async.machine import AsyncMachine
from farhand._async.models.desk import AsyncDesk
from farhand._models.errors import ActionFailed, NotConfirmed, OutOfSteps
from farhand._models.openai_actions import ACTIONS
from farhand._models.steps import LONGEST_SIDE, LOOK, Outcome, Step, step_of
from farhand.types import Picture, PictureContent

MOST_TURNS = 50


class AsyncComputer:
    """A machine for a model with OpenAI's ``computer`` tool.

    ``confirm`` is given a call whose safety checks a person must have seen, and says ``True`` if it
    may be carried out; without it none is.  ``longest`` is the longest side of the pictures that
    the model gets, in pixels.

    :meth:`run` is the whole loop, :meth:`outputs` one turn of a loop of your own.  It is a driver
    of the SDK's ``AsyncComputerToolset`` as well, which ends with the first action that fails.
    """

    def __init__(
        self,
        machine: AsyncMachine,
        *,
        confirm: Callable[[ResponseComputerToolCall], Awaitable[bool]] | None = None,
        longest: int = LONGEST_SIDE,
    ) -> None:
        self._desk = AsyncDesk(machine, longest)
        self._confirm = confirm

    async def run(
        self,
        client: AsyncOpenAI,
        goal: str,
        *,
        model: str,
        turns: int = MOST_TURNS,
        **options: Any,
    ) -> Response:
        """Let a model work the machine until it has nothing more to do; the last response.

        ``options`` are further ones of ``client.responses.create``, such as ``instructions``.
        Raises NotConfirmed, OutOfSteps after so many ``turns``, or a FarhandError.
        """
        given = {"model": model, "tools": [{"type": "computer"}], "truncation": "auto", **options}
        response: Response = await client.responses.create(input=goal, **given)
        for left in range(turns, -1, -1):
            calls = [item for item in response.output if item.type == "computer_call"]
            if not calls or response.status != "completed":
                return response  # Where it was cut short, so may its last call be.
            if left:
                response = await client.responses.create(
                    input=await self.outputs(calls), previous_response_id=response.id, **given
                )
        raise OutOfSteps(f"the model wanted more than {turns} turns")

    async def outputs(
        self, calls: Sequence[ResponseComputerToolCall]
    ) -> list[ResponseInputItemParam]:
        """Carry out the calls of a turn, and return what the model is to be sent for them."""
        for call in calls:
            await self._check(call)
        steps: list[Step] = []
        names: dict[int, str] = {}
        ends: list[int] = []
        for call in calls:
            for action in _actions_of(call):
                names[len(steps)] = action["type"]
                steps.append(step_of(ACTIONS, action["type"], action))
            ends.append(len(steps))
            steps.append(LOOK)
        outcomes = await self._desk.carry_out(steps)
        shown = [outcomes[end].picture or await self._desk.look() for end in ends]
        sent = [_output(call, picture) for call, picture in zip(calls, shown, strict=True)]
        return [*sent, *_told(names, outcomes)]

    async def click(self, action: Any) -> None:
        """Carry out one action of a toolset of the SDK; raises ActionFailed."""
        given = action.to_dict()
        (outcome,) = await self._desk.carry_out([step_of(ACTIONS, given["type"], given)])
        if outcome.failure is not None:
            raise ActionFailed(outcome.failure)

    double_click = drag = keypress = move = scroll = type = wait = click

    async def screenshot(self) -> ResponseComputerToolCallOutputScreenshotParam:
        """The picture that a toolset of the SDK wants after the actions of a call."""
        return _screenshot(await self._desk.look())

    async def _check(self, call: ResponseComputerToolCall) -> None:
        if call.pending_safety_checks and (
            self._confirm is None or await self._confirm(call) is not True
        ):
            why = "; ".join(
                each.message or each.code or each.id for each in call.pending_safety_checks
            )
            raise NotConfirmed(f"nobody confirmed what OpenAI asks about: {why}")


def _actions_of(call: ResponseComputerToolCall) -> list[dict[str, Any]]:
    """All actions of a call: older models have one, under another name."""
    found = [*(call.actions or []), *([] if call.action is None else [call.action])]
    return [action.to_dict() for action in found]


def _screenshot(picture: Picture | PictureContent) -> ResponseComputerToolCallOutputScreenshotParam:
    data = base64.b64encode(picture.data).decode()
    return {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{data}"}


def _output(
    call: ResponseComputerToolCall, picture: Picture | PictureContent
) -> ResponseInputItemParam:
    return {
        "type": "computer_call_output",
        "call_id": call.call_id,
        "output": _screenshot(picture),
        "acknowledged_safety_checks": [
            {"id": each.id, "code": each.code, "message": each.message}
            for each in call.pending_safety_checks or []
        ],
    }


def _told(names: Mapping[int, str], outcomes: Sequence[Outcome]) -> list[ResponseInputItemParam]:
    """A message about what failed, for which the output of a call has no room."""
    lines = [
        f"Action {number} ({name}): {outcomes[place].failure}"
        for number, (place, name) in enumerate(names.items(), 1)
        if outcomes[place].failure is not None
    ]
    if not lines:
        return []
    content: Any = [{"type": "input_text", "text": "\n".join(lines)}]
    return [{"type": "message", "role": "developer", "content": content}]
