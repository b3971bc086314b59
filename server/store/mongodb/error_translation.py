"""The store's own errors in place of the driver's, which nobody else knows."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bson.errors import InvalidDocument
from pymongo.errors import (
    BulkWriteError,
    ConfigurationError,
    ConnectionFailure,
    DocumentTooLarge,
    DuplicateKeyError,
    InvalidOperation,
    OperationFailure,
    PyMongoError,
)

from server.errors import (
    AlreadyExists,
    StoreError,
    StoreUnavailable,
    StoreUnusable,
    TooLarge,
)

# https://www.mongodb.com/docs/manual/reference/error-codes/
_DUPLICATE_KEY = 11000
_UNAUTHORIZED = 13
_AUTHENTICATION_FAILED = 18
_TOO_LARGE = (10334, 17419, 17420)
_SNAPSHOT_UNAVAILABLE = 246
_CACHE_TOO_FULL = 388
_OF_THE_MOMENT = frozenset({50, 64, 91, 189, 262, 10107, 11600, 11602, 13435, 13436})
"""A member that steps down, shuts down or is out of time, or a majority that is."""


@asynccontextmanager
async def translate_errors() -> AsyncIterator[None]:
    """Raise our own error in place of any that the driver raises inside."""
    try:
        yield
    except Exception as error:
        if (own := own_error(error)) is None:
            raise
        raise own from error


def own_error(error: BaseException) -> StoreError | None:
    """What to raise in place of an error of an operation; None where it is none of the driver's."""
    if isinstance(error, TimeoutError):
        return StoreUnavailable("The database did not answer in time.")
    if isinstance(error, PyMongoError | InvalidDocument):
        return translated(error)
    return None


def translated(error: Exception) -> StoreError:
    """Our own error for one of the driver's; the driver's words stay out of reach of clients."""
    code = error.code if isinstance(error, OperationFailure) else None
    if isinstance(error, DuplicateKeyError):
        return refused(_DUPLICATE_KEY)
    if isinstance(error, DocumentTooLarge) or code in _TOO_LARGE:
        return refused(_TOO_LARGE[0])
    if code == _AUTHENTICATION_FAILED:
        return StoreUnusable(
            "The database refused the user or the password of the MongoDB URI: correct them in "
            "mongodb_uri (FARHAND_MONGODB_URI), its authSource included."
        )
    if code == _UNAUTHORIZED:
        return StoreUnusable(
            "The database does not let the user of the MongoDB URI, or a URI without one, read and "
            "write: name a user with the role readWrite in mongodb_uri (FARHAND_MONGODB_URI)."
        )
    if isinstance(error, ConfigurationError):
        return StoreUnusable(f"The database cannot be used: {error}")
    if isinstance(error, ConnectionFailure | InvalidOperation) or (
        isinstance(error, PyMongoError)
        # A member that is stepping down or recovering says so through its labels.
        and (
            error.timeout
            or error.has_error_label("RetryableWriteError")
            # An index or a collection is just being made; or others' writes fill the cache.
            or code in (_SNAPSHOT_UNAVAILABLE, _CACHE_TOO_FULL)
        )
    ):
        return StoreUnavailable("The database does not answer.")
    return StoreError(f"The database refused ({type(error).__name__}, code {code}).")


def refused_writes(error: BulkWriteError) -> dict[int, StoreError]:
    """Of several documents those that were not written, by their places, each with the reason.

    Raises StoreUnavailable where the reason is none of theirs.
    """
    reasons = {each["index"]: each["code"] for each in error.details["writeErrors"]}
    if error.details["writeConcernErrors"] or _OF_THE_MOMENT.intersection(reasons.values()):
        # The driver's own error repeats the documents.
        raise StoreUnavailable("The database does not answer.") from None
    return {index: refused(code) for index, code in reasons.items()}


def refused(code: int) -> StoreError:
    """The reason why one write of several was refused, or not confirmed by a majority."""
    if code in _OF_THE_MOMENT:
        return StoreUnavailable("The database does not answer.")
    if code == _DUPLICATE_KEY:
        return AlreadyExists("It exists already.")
    if code in _TOO_LARGE:
        return TooLarge("It is larger than the 16 MiB that the database takes.")
    return StoreError(f"The database refused (code {code}).")
