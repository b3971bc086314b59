"""Commands, answers, problems and pictures as they cross the bus, and back."""

from dataclasses import asdict
from uuid import uuid4

from pydantic import ValidationError

from schemas.bus.messages import (
    Answered,
    DescribedMachine,
    ForwardedCommand,
    Invalid,
    MessageRefusedError,
    NextPicture,
    PictureTaken,
    Problem,
    Reply,
    TakeScreenshot,
)
from schemas.http.problems import (
    PROBLEM_TYPES,
    STORAGE_UNAVAILABLE,
    InvalidRequestError,
    ProblemError,
    ValidationErrorEntry,
)
from schemas.inputs.bodies import INPUT_BODIES
from schemas.link.picture_frames import Picture
from schemas.link.screen_options import LiveOptions, ScreenshotOptions
from server.dispatch.command import Command
from server.dispatch.links_here import LiveMachine
from server.store.commands import Answer
from server.store.errors import StoreUnavailable


def forwarded(command: Command) -> ForwardedCommand:
    """A command as it leaves for the node with its machine's link, once or again."""
    # Validated once more, which is quicker than to construct it without.
    return ForwardedCommand(
        organization_id=command.organization_id,
        machine_id=command.machine_id,
        command_id=command.id,
        operation=command.operation,
        body=command.body.model_dump(),
        fingerprint=command.fingerprint,
        accepted_at=command.accepted_at,
        expires_at=command.expires_at,
        answer_by=command.answer_by,
        request_id=command.request_id,
        minimal=command.minimal,
        token_id=command.token_id,
        token_name=command.token_name,
        forward_id=uuid4(),
        proof=command.proof,
        in_stretch=command.in_stretch,
    )


def command_of(message: ForwardedCommand) -> Command:
    """The command that another node has forwarded.  Raises MessageRefusedError."""
    try:
        body = INPUT_BODIES[message.operation].model_validate(message.body)
    except ValidationError:
        raise MessageRefusedError("malformed") from None
    return Command(
        id=message.command_id,
        organization_id=message.organization_id,
        machine_id=message.machine_id,
        body=body,
        fingerprint=message.fingerprint,
        accepted_at=message.accepted_at,
        expires_at=message.expires_at,
        answer_by=message.answer_by,
        request_id=message.request_id,
        minimal=message.minimal,
        token_id=message.token_id,
        token_name=message.token_name,
        proof=message.proof,
        in_stretch=message.in_stretch,
    )


def answered(answer: Answer, *, is_replayed: bool) -> bytes:
    """The final answer to a command, for another node's caller."""
    message = Answered(
        status=answer.status, content_type=answer.content_type, is_replayed=is_replayed
    )
    return message.encode(answer.body)


def answer_of(message: Answered, content: bytes) -> tuple[Answer, bool]:
    """The final answer that another node gave, and whether it was given before."""
    return Answer(message.status, message.content_type, content), message.is_replayed


def problem(error: ProblemError | InvalidRequestError | StoreUnavailable) -> Problem | Invalid:
    """Why there is no answer, for another node's caller."""
    if isinstance(error, StoreUnavailable):
        error = ProblemError(STORAGE_UNAVAILABLE, str(error))
    if isinstance(error, InvalidRequestError):
        return Invalid(entries=[entry.model_dump(mode="json") for entry in error.entries])
    return Problem(
        name=error.problem_type.name,
        detail=error.detail,
        members=dict(error.members),
        headers=dict(error.headers),
    )


def raise_problem(reply: Reply) -> None:
    """Raise what another node says is wrong; nothing happens where the reply is something else.

    That is a problem, an InvalidRequestError or StoreUnavailable; MessageRefusedError for a problem
    that only a newer node knows.
    """
    if isinstance(reply, Invalid):
        raise InvalidRequestError(
            [ValidationErrorEntry.model_validate(entry) for entry in reply.entries]
        )
    if isinstance(reply, Problem):
        if reply.name not in PROBLEM_TYPES:
            raise MessageRefusedError("version")
        if reply.name == STORAGE_UNAVAILABLE.name:
            raise StoreUnavailable(reply.detail)
        raise ProblemError(PROBLEM_TYPES[reply.name], reply.detail, reply.members, reply.headers)


def screenshot_options(message: TakeScreenshot) -> ScreenshotOptions:
    """How another node wants its picture."""
    return ScreenshotOptions(message.format, message.width, message.height, message.quality)


def live_options(message: NextPicture) -> LiveOptions:
    """How another node wants its live screen."""
    return LiveOptions(message.width, message.height, message.quality, message.rate)


def picture_taken(picture: Picture) -> bytes:
    """A picture for another node."""
    message = PictureTaken(
        format=picture.format,
        region=picture.region,
        size=picture.size,
        captured_at=picture.captured_at,
    )
    return message.encode(picture.content)


def picture_of(message: PictureTaken, content: bytes) -> Picture:
    """The picture that another node has sent."""
    return Picture(message.format, content, message.size, message.region, message.captured_at)


def described(machine_id: str, live: LiveMachine) -> DescribedMachine:
    """What a machine of this node is like, for another node."""
    return DescribedMachine.model_validate({"machine_id": machine_id, **asdict(live)})


def live_machine(message: DescribedMachine) -> LiveMachine:
    """What a machine of another node is like."""
    return LiveMachine(
        state=message.state,
        reason=message.reason,
        since=message.since,
        displays=None if message.displays is None else tuple(message.displays),
        screen=message.screen,
        round_trip_seconds=message.round_trip_seconds,
        node=message.node,
        viewers=tuple(message.viewers),
    )
