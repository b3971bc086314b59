"""What the operations share that make, change and delete stored things.

A creation may have an Idempotency-Key, a change an If-Match; what the store refuses becomes a
problem here.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pydantic import BaseModel, Field

from schemas.http import problems
from schemas.http.entity_tags import ChangeHeaders
from schemas.http.idempotency_keys import IdempotencyKey
from schemas.http.problems import InvalidRequestError, ProblemError
from schemas.values.json_texts import JsonText
from schemas.values.strict import StrictModel
from server import errors
from server.store.idempotency import KeyedRequest
from server.web.handler import ApiHandler


class CreationHeaders(StrictModel):
    """Headers of what makes something."""

    idempotency_key: IdempotencyKey | None = Field(
        None,
        alias="Idempotency-Key",
        description="1 to 255 visible ASCII characters, bare or quoted (RFC 8941).  It is made "
        "once, and a retry with the same key gets the first answer.",
    )


class AppendHeaders(CreationHeaders, ChangeHeaders):
    """Headers of what adds to something that is there."""


REPLAYED: Mapping[str, str] = {"Idempotency-Replayed": "true where this answer was given before."}
TAGGED: Mapping[str, str] = {"ETag": "Names the version; for If-Match."}


class ChangingHandler(ApiHandler):
    """A handler that makes or changes things.

    ``is_replayed`` is whether what it answers with was done for an earlier request.
    """

    is_replayed = False

    def note_replay(self, is_replayed: bool) -> None:
        """Say in a header where the answer is that of an earlier request."""
        if is_replayed:
            self.is_replayed = True
            self.set_header("Idempotency-Replayed", "true")

    def keyed_request(self, headers: CreationHeaders, body: BaseModel) -> KeyedRequest | None:
        """What a request under an Idempotency-Key is known by; None without a key."""
        key = headers.idempotency_key
        if key is None:
            return None
        organization_id = self.organization_id
        address = f"{self.request.method} {self.request.path}"
        fingerprint = self.services.fingerprints.of(organization_id, key, content(address, body))
        return KeyedRequest(organization_id, key, fingerprint)


def content(address: str, body: BaseModel) -> Iterator[bytes]:
    """What makes two requests the same: the address, and the body as it was understood."""
    yield address.encode()
    yield from _fields(body)


def _fields(body: BaseModel) -> Iterator[bytes]:
    for name in sorted(type(body).model_fields):
        value = getattr(body, name)
        if isinstance(value, JsonText):
            text = value.text
        elif isinstance(value, list) and all(isinstance(each, BaseModel) for each in value):
            # Field by field: what a model's repr leaves out, such as secrets, counts as well.
            text = b"".join(part for each in value for part in _fields(each))
        else:
            text = repr(value).encode()
        # With its length, so that no value can pretend to be two.
        yield b"\n%s %d " % (name.encode(), len(text))
        yield text


def key_reused() -> InvalidRequestError:
    """The key belongs to another request."""
    return InvalidRequestError.single(
        ("header", "Idempotency-Key"),
        "this key was used for another request; use a new key for a new request",
        "idempotency_key_reused",
    )


@contextmanager
def refusals(subject: str, max_bytes: int = 0) -> Iterator[None]:
    """Turn what the store refuses about ``subject``, such as ``workflow 7``, into problems."""
    try:
        yield
    except errors.NotFound:
        raise ProblemError(problems.NOT_FOUND, f"there is no {subject}") from None
    except errors.AlreadyExists:
        raise ProblemError(problems.CONFLICT, f"there is a {subject} already") from None
    except errors.VersionMismatch:
        raise ProblemError(
            problems.PRECONDITION_FAILED, f"this {subject} is not the version that If-Match names"
        ) from None
    except errors.WrongState as error:
        raise ProblemError(problems.WRONG_STATE, str(error)) from None
    except errors.OwnWork as error:
        raise ProblemError(problems.FORBIDDEN, str(error)) from None
    except errors.InUse:
        raise ProblemError(problems.IN_USE, f"trajectories refer to this {subject}") from None
    except errors.KeyReused:
        raise key_reused() from None
    except errors.TooLarge as error:
        raise ProblemError(
            problems.TOO_LARGE, str(error), members={"max_bytes": max_bytes}
        ) from None
