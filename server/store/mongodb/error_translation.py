"""The store's own errors in place of the driver's, which nobody else knows."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bson.errors import InvalidDocument
from pymongo.errors import (
    ConfigurationError,
    ConnectionFailure,
    DocumentTooLarge,
    DuplicateKeyError,
    InvalidOperation,
    OperationFailure,
    PyMongoError,
)

from server.store.errors import (
    AlreadyExists,
    StoreError,
    StoreUnavailable,
    StoreUnusable,
    TooLarge,
)

# https://www.mongodb.com/docs/manual/reference/error-codes/
_UNAUTHORIZED = 13
_AUTHENTICATION_FAILED = 18
_TOO_LARGE = (10334, 17419, 17420)
_SNAPSHOT_UNAVAILABLE = 246


@asynccontextmanager
async def translate_errors() -> AsyncIterator[None]:
    """Raise our own error in place of any that the driver raises inside."""
    try:
        yield
    except TimeoutError as error:
        raise StoreUnavailable("The database did not answer in time.") from error
    except (PyMongoError, InvalidDocument) as error:
        raise translated(error) from error


def translated(error: Exception) -> StoreError:
    """Our own error for one of the driver's; the driver's words stay out of reach of clients."""
    code = error.code if isinstance(error, OperationFailure) else None
    if isinstance(error, DuplicateKeyError):
        return AlreadyExists("It exists already.")
    if isinstance(error, DocumentTooLarge) or code in _TOO_LARGE:
        return TooLarge("It is larger than the 16 MiB that the database takes.")
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
            # An index or a collection is just being made.
            or code == _SNAPSHOT_UNAVAILABLE
        )
    ):
        return StoreUnavailable("The database does not answer.")
    return StoreError(f"The database refused ({type(error).__name__}, code {code}).")
