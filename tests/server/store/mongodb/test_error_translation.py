import pytest
from pymongo.errors import (
    AutoReconnect,
    BulkWriteError,
    ConfigurationError,
    DocumentTooLarge,
    DuplicateKeyError,
    ExecutionTimeout,
    InvalidOperation,
    NetworkTimeout,
    NotPrimaryError,
    OperationFailure,
    ServerSelectionTimeoutError,
    WriteConcernError,
    WTimeoutError,
)

from server.errors import (
    AlreadyExists,
    StoreError,
    StoreUnavailable,
    StoreUnusable,
    TooLarge,
)
from server.store.mongodb.error_translation import refused_writes, translate_errors, translated


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (DuplicateKeyError("dup"), AlreadyExists),
        (DocumentTooLarge("big"), TooLarge),
        (OperationFailure("big", 10334), TooLarge),
        (OperationFailure("no", 18), StoreUnusable),
        (OperationFailure("no", 13), StoreUnusable),
        (ConfigurationError("no"), StoreUnusable),
        (AutoReconnect("gone"), StoreUnavailable),
        (NetworkTimeout("late"), StoreUnavailable),
        (NotPrimaryError("no"), StoreUnavailable),
        (ServerSelectionTimeoutError("none"), StoreUnavailable),
        (ExecutionTimeout("late", 50), StoreUnavailable),
        (WTimeoutError("late", 64), StoreUnavailable),
        (WriteConcernError("late", 50), StoreUnavailable),
        (OperationFailure("the cache is full", 388), StoreUnavailable),
        (InvalidOperation("closed"), StoreUnavailable),
        (
            OperationFailure("x", 11602, {"errorLabels": ["RetryableWriteError"]}),
            StoreUnavailable,
        ),
        (OperationFailure("secret", 9), StoreError),
    ],
)
def test_driver_errors_become_ours(error: Exception, expected: type[StoreError]) -> None:
    ours = translated(error)
    assert type(ours) is expected
    assert "secret" not in str(ours)


async def test_what_is_raised_inside_is_translated() -> None:
    for error in (NetworkTimeout("late"), TimeoutError()):
        with pytest.raises(StoreUnavailable):
            async with translate_errors():
                raise error
    with pytest.raises(KeyError):
        async with translate_errors():
            raise KeyError


def bulk_error(*codes: int, **further: object) -> BulkWriteError:
    """The driver's error for several documents, of which each second one was not written."""
    errors = [{"index": 2 * number, "code": code} for number, code in enumerate(codes)]
    return BulkWriteError({"writeErrors": errors, "writeConcernErrors": [], **further})


def test_each_document_that_was_not_written_has_its_own_reason() -> None:
    refused = refused_writes(bulk_error(11000, 10334, 121))
    assert {place: type(reason) for place, reason in refused.items()} == {
        0: AlreadyExists,
        2: TooLarge,
        4: StoreError,
    }


@pytest.mark.parametrize(
    "error",
    [bulk_error(11000, 11602), bulk_error(11000, writeConcernErrors=[{"code": 64}])],
)
def test_database_that_could_not_write_them_now_does_not_answer(error: BulkWriteError) -> None:
    with pytest.raises(StoreUnavailable) as caught:
        refused_writes(error)
    assert caught.value.__cause__ is None
