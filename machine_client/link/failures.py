"""Why a try to connect failed: what ends a machine client, what is tried again, in a few words.

Between a desktop and its server stand proxies, portals, firewalls and servers that are just being
restarted.  Whatever they answer passes like the weather.  Only the server itself can say that a
client need not come back: with a close code, or with a problem document of its own.
"""

import errno
import os
import socket
import ssl
from http import HTTPStatus
from urllib.parse import urlsplit

from pydantic import ValidationError
from websockets import exceptions
from websockets.http11 import Response

from schemas.http import problems
from schemas.http.problems import Problem

FINAL_PROBLEMS = (problems.UNAUTHENTICATED, problems.FORBIDDEN)
"""With these the server itself says that this token opens nothing here."""

MAX_FOREIGN_CHARACTERS = 200
"""That a sentence repeats of what somebody else has said."""


class MustStopError(Exception):
    """The server will not have this client as it is; the message says why, for a person."""


class MisconfiguredError(Exception):
    """Something on this desktop is set wrongly; the message says what, for a person."""


def reason_to_retry(error: Exception) -> str:
    """Why a try to connect failed that may succeed another time, in a few words.

    Raises MustStopError where the server itself has said that it will not, MisconfiguredError
    where this desktop's settings cannot work, and the error itself where it is a mistake of ours.
    """
    match error:
        case exceptions.InvalidStatus(response=response):
            if (problem := problem_in(response)) is None:
                return _answer(response)
            if any(_is(problem, final) for final in FINAL_PROBLEMS):
                raise MustStopError(
                    f"the server refused the token (HTTP {problem.status}: "
                    f"{foreign(problem.detail)}); make a new one with farhand machine add or "
                    "farhand token create, or a code with farhand machine invite"
                ) from error
            return f"the server answered HTTP {problem.status}: {foreign(problem.detail)}"
        case exceptions.InvalidProxy():
            # Its text repeats the whole address, which can hold a password.
            raise MisconfiguredError(f"the proxy cannot be used: {error.msg}") from None
        case exceptions.InvalidProxyStatus(response=response):
            return f"the proxy answered {status_of(response)}"
        case exceptions.NegotiationError() | exceptions.InvalidUpgrade():
            return f"what answered is no Farhand server, but a websocket: {foreign(str(error))}"
        case exceptions.InvalidMessage():
            return "what answered does not speak HTTP, or ended the connection"
        case exceptions.InvalidHandshake() | EOFError():
            return foreign(_with_cause(error))
        case OSError():
            return _trouble_of_the_network(error)
        case _:
            raise error


def asks_for_a_token(error: Exception) -> bool:
    """Whether the server itself has answered that somebody without a token calls."""
    if not isinstance(error, exceptions.InvalidStatus):
        return False
    problem = problem_in(error.response)
    return problem is not None and _is(problem, problems.UNAUTHENTICATED)


def foreign(text: str) -> str:
    """What somebody else has said, cut, in one line and without what a terminal would obey."""
    line = "".join(each if each.isprintable() else " " for each in text)
    if len(line) <= MAX_FOREIGN_CHARACTERS:
        return line
    return f"{line[:MAX_FOREIGN_CHARACTERS]}…"


def without_credentials(address: str) -> str:
    """A URL's scheme, host, port and path, without what can be secret in the rest."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def problem_in(response: Response) -> Problem | None:
    """The Farhand problem that an answer is, if it is one; others are not ours to believe."""
    media_type = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if media_type != problems.MEDIA_TYPE:
        return None
    try:
        problem = Problem.model_validate_json(response.body)
    except ValidationError:
        return None
    # A newer server may have problems that this client does not know yet.
    is_ours = problem.type.startswith("/problems/") and problem.status == response.status_code
    return problem if is_ours else None


def _is(problem: Problem, problem_type: problems.ProblemType) -> bool:
    return (problem.type, problem.status) == (problem_type.reference, problem_type.status)


def _answer(response: Response) -> str:
    """What something that is not our server has answered."""
    said = f"what answered is no Farhand server: {status_of(response)}"
    if (location := response.headers.get("Location")) is not None:
        return f"{said}, a redirect to {place_of(location)}; the token follows none"
    return said


def status_of(response: Response) -> str:
    """The status of an answer with its phrase, such as ``HTTP 404 Not Found``."""
    try:
        phrase = HTTPStatus(response.status_code).phrase
    except ValueError:
        phrase = foreign(response.reason_phrase)
    return f"HTTP {response.status_code} {phrase}".rstrip()


def place_of(location: str) -> str:
    """Where a redirect leads, without what can be secret in it."""
    try:
        return foreign(without_credentials(location)).removeprefix("://")
    except ValueError:
        return "an address that is none"


def _trouble_of_the_network(error: OSError) -> str:
    match error:
        case ssl.SSLCertVerificationError():
            return f"its certificate is not trusted: {error.verify_message}"
        case ssl.SSLError():
            reason = getattr(error, "reason", None) or str(error)
            return f"no TLS connection came about: {foreign(reason.replace('_', ' ').lower())}"
        case socket.gaierror():
            return f"a name is not known: {error.strerror}"
        case TimeoutError() if error.errno is None:
            return "there was no answer in time"
        case ConnectionError() if error.errno is None:
            return "the connection was ended without an answer"
        case _ if (number := error.errno) is not None and number in errno.errorcode:
            return os.strerror(number).lower()
        case _:
            return foreign(_with_cause(error))


def _with_cause(error: Exception) -> str:
    said = str(error) or type(error).__name__
    return f"{said}: {error.__cause__}" if error.__cause__ is not None else said
