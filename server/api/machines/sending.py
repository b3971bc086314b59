"""What all operations share that send an input: it becomes a command, and its end an answer."""

from pydantic import Field

from schemas.http import problems
from schemas.http.idempotency_keys import IdempotencyKey
from schemas.http.preferences import return_preference
from schemas.inputs.actions import AnyBody
from schemas.inputs.bodies import AnyInput, ElementInput, MouseInput
from schemas.resources.machines import InputResult
from schemas.resources.recordings import RecordingId
from schemas.resources.tokens import Scope
from schemas.values.strict import StrictModel
from server.api.machines.answers import Answer, answer_to, problem_of
from server.api.machines.asking import AskingHandler
from server.api.machines.paths import MachinePath
from server.dispatch.command import Ended, Pending
from server.web.endpoint import Endpoint

_OF_ELEMENTS = (problems.NO_ELEMENTS, problems.ELEMENT_MISSING, problems.ELEMENT_AMBIGUOUS)


class InputHeaders(StrictModel):
    """Headers that all inputs take."""

    idempotency_key: IdempotencyKey | None = Field(
        None,
        alias="Idempotency-Key",
        description="1 to 255 visible ASCII characters, bare or quoted (RFC 8941).  The input "
        "happens at most once, and a retry with the same key gets the first answer.",
    )
    farhand_control: str | None = Field(
        None,
        alias="Farhand-Control",
        max_length=200,
        description="The id of the caller's control lease, while they have control of the machine.",
    )
    farhand_recording: RecordingId | None = Field(
        None,
        alias="Farhand-Recording",
        description="The id of a recording of the caller's own that this is to be a step of, and "
        "of no other one of theirs.",
    )
    prefer: str | None = Field(
        None,
        alias="Prefer",
        max_length=1000,
        description="return=minimal answers 204 without a body, return=representation 200 with "
        "the result (RFC 7240).",
    )


def input_endpoint(summary: str, body: type[AnyBody]) -> Endpoint:
    """What the operation of an input promises."""
    return Endpoint(
        summary=summary,
        scope=Scope.INPUT_SEND,
        path=MachinePath,
        headers=InputHeaders,
        body=body,
        # A mouse's too: a text may be sent to the wrong address.
        confidential=True,
        answers={200: InputResult, 204: None},
        problems=(
            problems.NOT_FOUND,
            problems.KEY_IN_PROGRESS,
            problems.CONTROL_ENDED,
            problems.RECORDING_ENDED,
            problems.MACHINE_BUSY,
            problems.MACHINE_UNAVAILABLE,
            problems.NOT_CARRIED_OUT,
            problems.INPUT_FAILED,
            problems.OUTCOME_UNKNOWN,
            problems.INPUT_EXPIRED,
            problems.OUTCOME_PENDING,
            *(_OF_ELEMENTS if issubclass(body, ElementInput | MouseInput) else ()),
        ),
        answer_headers={
            "Idempotency-Replayed": "true where this answer was given before.",
            "Preference-Applied": "The preference of the Prefer header that was honoured.",
        },
    )


def names_element(body: object) -> bool:
    """Whether an input names an element: how it ends then tells what the screen shows."""
    return isinstance(body, ElementInput) or (isinstance(body, MouseInput) and any(body.elements))


class InputHandler(AskingHandler):
    """One input on one machine."""

    async def carry_out(self, path: MachinePath, headers: InputHeaders, body: AnyInput) -> None:
        """Send the input, and answer with what became of it."""
        if names_element(body):
            self.principal.require(Scope.SCREEN_READ)
        preferred = return_preference(headers.prefer)
        minimal = (preferred or self.services.settings.input_response) == "minimal"
        ended = await self.ended(path, headers, body, minimal=minimal)
        answer = answer_to(ended)
        if preferred and not ended.is_replayed and answer.status in (200, 204):
            self.set_header("Preference-Applied", f"return={preferred}")
        self.answer_end(answer, ended)

    async def ended(
        self, path: MachinePath, headers: InputHeaders, body: AnyBody, *, minimal: bool
    ) -> Ended:
        """How a command ended; anything else is raised."""
        command = self.services.machines.dispatcher.accept(
            self.sender(headers.farhand_control, recording=headers.farhand_recording),
            path.machine_id,
            body,
            key=headers.idempotency_key,
            minimal=minimal,
        )
        self.note(command=command.id)
        reply = await self.ask(command)
        if isinstance(reply, Pending):
            raise problem_of(reply)
        return reply

    def answer_end(self, answer: Answer, ended: Ended) -> None:
        """Answer with the end of a command."""
        if ended.is_replayed:
            self.set_header("Idempotency-Replayed", "true")
        self.answer_bytes(answer.status, answer.body, answer.content_type)
