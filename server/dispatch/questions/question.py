"""Questions and replies, and how they cross the bus, version 1.

Both are JSON; what has a content beside it, such as a picture, carries it behind one line feed.
Fields that a node does not know it ignores, so that either node may be the newer one; a message of
another version, or of a type that it does not know, it refuses, and does nothing.  Times are
milliseconds since 1970.
"""

from enum import StrEnum
from typing import Annotated, Any, ClassVar, Final, Generic, Literal, TypeVar, Union, get_args
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import from_json

from schemas.values.scalars import MachineId
from schemas.values.unavailable_reasons import UnavailableReason

VERSION: Final = 1

R = TypeVar("R")
"""What a question is answered with."""

Milliseconds = Annotated[int, Field(strict=True, ge=0, lt=2**53)]
"""A moment, since 1970."""


class MessageRefusedError(Exception):
    """A message that is not understood; ``str()`` is why: malformed, or of another version."""


class _Kinds:
    """All kinds of messages of one direction, by their types."""

    def __init__(self) -> None:
        self._kinds: list[type[BaseModel]] = []
        self._adapter: TypeAdapter[Any] | None = None

    def add(self, kind: type[BaseModel]) -> None:
        """Understand a further kind, if it is one: bases have no type."""
        if "type" in kind.model_fields:
            self._kinds.append(kind)
            self._adapter = None

    def decode(self, text: bytes) -> Any:
        """The message that a text is.  Raises MessageRefusedError."""
        if self._adapter is None:
            every: Any = Union[tuple(self._kinds)]  # noqa: UP007 - a list that grows
            self._adapter = TypeAdapter(Annotated[every, Field(discriminator="type")])
        try:
            return self._adapter.validator.validate_json(text)
        except ValidationError:
            raise MessageRefusedError(_why_refused(text)) from None


_QUESTIONS: Final = _Kinds()
_REPLIES: Final = _Kinds()


class Question(Generic[R]):
    """Something that a machine is asked for, or that is asked about one."""

    __slots__ = ()


class Message(BaseModel):
    """What crosses the bus."""

    model_config = ConfigDict(frozen=True)

    version: Literal[1] = VERSION


class Reply(Message):
    """What a question is answered with; each kind has a ``type`` of its own."""

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        """Have replies of this kind understood."""
        _REPLIES.add(cls)


class ReplyWithContent(Reply):
    """A reply with bytes that are no part of its JSON."""

    content: bytes = Field(b"", exclude=True, repr=False)


class RefusalKind(StrEnum):
    """What stands in the way of a question, by the name that its problem has for callers."""

    UNKNOWN_MACHINE = "not-found"
    UNAVAILABLE = "machine-unavailable"
    BUSY = "machine-busy"
    KEY_IN_PROGRESS = "idempotency-key-in-progress"
    KEY_REUSED = "idempotency-key-reused"
    NOT_ON_SCREEN = "not-on-screen"
    NO_ELEMENTS = "no-elements"
    CONTROL_HELD = "control-held"
    CONTROL_ENDED = "control-ended"
    CONTROL_FREE = "control-free"
    RECORDING_ENDED = "recording-ended"
    TOO_MANY_VIEWERS = "too-many-streams"
    CLIPBOARD_UNREADABLE = "clipboard-unreadable"
    STORAGE_UNAVAILABLE = "storage-unavailable"


class Refusal(Reply):
    """Nothing was done: why, in a sentence for a person and in facts for a program.

    ``reason`` is why a machine is unavailable, ``since`` since when it is so (ms since 1970),
    ``by`` who is in the way, ``code`` what the machine calls it, and ``loc`` the place in the
    request that is wrong.  It is worth asking again after ``retry_seconds``; None is never.
    """

    type: Literal["refusal"] = "refusal"
    kind: RefusalKind
    detail: str
    reason: UnavailableReason | None = None
    since: int | None = None
    by: str | None = None
    code: str | None = None
    loc: tuple[str, ...] = ()
    retry_seconds: int | None = None


class _Asked(Message, Question[R], Generic[R]):
    """A question that crosses the bus; each kind has a ``type`` of its own."""

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        """Have questions of this kind understood."""
        _QUESTIONS.add(cls)

    @classmethod
    def is_answered_by(cls, reply: Reply) -> bool:
        """Whether a reply is one that this question can have."""
        bases = (getattr(each, "__pydantic_generic_metadata__", {}) for each in cls.__mro__)
        (answer,) = next(each["args"] for each in bases if each.get("args"))
        return isinstance(reply, get_args(answer) or answer)


class LinkQuestion(_Asked[R], Generic[R]):
    """A question for the node that has the machine's link.

    Another node waits ``answer_seconds`` for its reply, a little more than that node takes at most.
    """

    answer_seconds: ClassVar[float] = 1.0

    organization_id: UUID
    machine_id: MachineId

    def lost(self) -> Refusal:
        """What is said where no reply came: nobody knows, and nothing is to be feared of it."""
        return Refusal(
            kind=RefusalKind.UNAVAILABLE,
            detail="the node that the machine is connected to did not answer in time",
            reason="unreachable",
            since=None,
            retry_seconds=5,
        )


class Look(LinkQuestion[R], Generic[R]):
    """A question whose answer shows something of the machine.

    ``looker`` stands for whoever is to see it; while somebody has private control, nobody else
    does.  Without it, it is somebody who has no control.
    """

    looker: str = Field("", max_length=64)


class NodeQuestion(_Asked[R], Generic[R]):
    """A question for a node, which answers it from memory."""


class NotHere(Reply):
    """The link that was asked for has just ended; nothing was done."""

    type: Literal["not_here"] = "not_here"


class NotUnderstood(Reply):
    """The message was not understood, or came too late; nothing was done."""

    type: Literal["not_understood"] = "not_understood"
    reason: str


class Done(Reply):
    """It is done."""

    type: Literal["done"] = "done"


def encode(message: Message) -> bytes:
    """A message as bytes, with its content behind it."""
    text = message.__pydantic_serializer__.to_json(message)
    content = message.content if isinstance(message, ReplyWithContent) else b""
    return b"%b\n%b" % (text, content) if content else text


def decode_question(message: bytes) -> LinkQuestion[Any] | NodeQuestion[Any]:
    """The question in a message from another node.  Raises MessageRefusedError."""
    question: LinkQuestion[Any] | NodeQuestion[Any] = _QUESTIONS.decode(message)
    return question


def decode_reply(message: bytes) -> Reply:
    """The reply in a message from another node.  Raises MessageRefusedError."""
    text, _, content = message.partition(b"\n")
    reply: Reply = _REPLIES.decode(text)
    if not content:
        return reply
    if not isinstance(reply, ReplyWithContent):
        raise MessageRefusedError("malformed")
    return reply.model_copy(update={"content": content})


def _why_refused(text: bytes) -> str:
    try:
        version = from_json(text)["version"]
    except (ValueError, KeyError, TypeError):
        return "malformed"
    return "malformed" if version == VERSION else "version"
