# Made of farhand/_async by client/unasync.py: change it there.
"""A machine as the computer that Gemini's models use."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from google.genai import types
from google.genai.client import Client

from farhand._models.errors import NotConfirmed, OutOfSteps
from farhand._models.gemini_actions import ACTIONS, GRID, NOT_ON_A_DESKTOP
from farhand._models.steps import LONGEST_SIDE, LOOK, Outcome, step_of
from farhand._sync.machine import Machine
from farhand._sync.models.desk import Desk
from farhand.types import Picture, PictureContent

MOST_TURNS = 50
MOST_PICTURES = 3
"""A model is sent the newest so many again with each turn, and of earlier ones the words alone."""


class Computer:
    """A machine for a model with Gemini's ``computer_use`` tool.

    ``confirm`` is given a call that a person must agree to, whose ``args["safety_decision"]`` says
    why, and says ``True`` if it may be carried out; without it none is.  ``longest`` is the longest
    side of the pictures that the model gets, in pixels.

    :meth:`run` is the whole loop, :meth:`responses` one turn of a loop of your own.
    """

    def __init__(
        self,
        machine: Machine,
        *,
        confirm: Callable[[types.FunctionCall], bool] | None = None,
        longest: int = LONGEST_SIDE,
    ) -> None:
        self._desk = Desk(machine, longest, GRID)
        self._confirm = confirm

    @staticmethod
    def tool(
        environment: types.Environment = types.Environment.ENVIRONMENT_DESKTOP,
    ) -> types.Tool:
        """The tool as the service takes it, without what there is none of on a desktop.

        Models before 3.5 know ``ENVIRONMENT_BROWSER`` alone.
        """
        return types.Tool(
            computer_use=types.ComputerUse(
                environment=environment, excluded_predefined_functions=[*NOT_ON_A_DESKTOP]
            )
        )

    def run(
        self,
        client: Client,
        goal: str,
        *,
        model: str,
        turns: int = MOST_TURNS,
        **config: Any,
    ) -> types.GenerateContentResponse:
        """Let a model work the machine until it has nothing more to do; the last response.

        ``config`` are fields of ``GenerateContentConfig``, such as ``system_instruction``.  Raises
        NotConfirmed, OutOfSteps after so many ``turns``, or a FarhandError.
        """
        settings = types.GenerateContentConfig(**{"tools": [self.tool()], **config})
        screen = self._desk.look()
        first = types.Part.from_bytes(data=screen.data, mime_type="image/png")
        contents = [types.Content(role="user", parts=[types.Part(text=goal), first])]
        for left in range(turns, -1, -1):
            response = client.models.generate_content(
                model=model, contents=list(contents), config=settings
            )
            calls = response.function_calls
            if not calls or not response.candidates or response.candidates[0].content is None:
                return response
            if left:
                parts = self.responses(calls)
                contents.append(response.candidates[0].content)
                contents.append(types.Content(role="user", parts=parts))
                _forget_pictures(contents)
        raise OutOfSteps(f"the model wanted more than {turns} turns")

    def responses(self, calls: Sequence[types.FunctionCall]) -> list[types.Part]:
        """Carry out the calls of a turn, and return what the model is to be sent for them."""
        for call in calls:
            if _asks(call) and (self._confirm is None or self._confirm(call) is not True):
                raise NotConfirmed(f"nobody confirmed what Gemini asks about: {_why(call)}")
        steps = [step_of(ACTIONS, call.name or "", call.args or {}) for call in calls]
        # The model sees the screen after each turn, whatever it asked for.
        outcomes = self._desk.carry_out([*steps, LOOK])
        last = outcomes.pop().picture or self._desk.look()
        return [
            _response(call, outcome, last if call is calls[-1] else outcome.picture)
            for call, outcome in zip(calls, outcomes, strict=True)
        ]


def _asks(call: types.FunctionCall) -> bool:
    """Whether a person must agree: also where the decision is one that is not known here."""
    decision = (call.args or {}).get("safety_decision")
    said = decision.get("decision") if isinstance(decision, Mapping) else decision
    return said not in {None, "regular", "allowed"}


def _why(call: types.FunctionCall) -> str:
    decision = (call.args or {}).get("safety_decision")
    return str(decision.get("explanation") if isinstance(decision, Mapping) else decision)


def _response(
    call: types.FunctionCall, outcome: Outcome, picture: Picture | PictureContent | None
) -> types.Part:
    said = {"output": "Done."} if outcome.failure is None else {"error": outcome.failure}
    if _asks(call):
        said["safety_acknowledgement"] = "true"
    shown = picture and types.FunctionResponsePart.from_bytes(
        data=picture.data, mime_type="image/png"
    )
    return types.Part(
        function_response=types.FunctionResponse(
            id=call.id, name=call.name, response=said, parts=[shown] if shown else None
        )
    )


def _forget_pictures(contents: Sequence[types.Content]) -> None:
    """Leave out all pictures but the newest; the first, of the screen before anything, stays."""
    answered = [
        part.function_response
        for content in contents
        for part in content.parts or []
        if part.function_response is not None and part.function_response.parts
    ]
    for each in answered[:-MOST_PICTURES]:
        each.parts = None
