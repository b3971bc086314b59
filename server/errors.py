"""What may go wrong with what is kept, in words of our own, for every room that hears of it."""

# ruff: noqa: N818  these are states of the world that callers act on, and read better without


class StoreError(Exception):
    """The store could not do what it was asked; the message is a sentence for a person."""


class StoreUnavailable(StoreError):
    """The database did not answer in bounded time.

    Of a write it says nothing: it may have happened, or may still happen.
    """


class StoreUnusable(StoreError):
    """The database answers, but Farhand cannot work with it until an operator changes something."""


class AlreadyExists(StoreError):
    """Something with this identity is stored already; nothing was written."""


class NotFound(StoreError):
    """There is nothing with this identity in this organization; nothing was written."""


class VersionMismatch(StoreError):
    """The thing has changed since the version that was asked for; nothing was written."""


class WrongState(StoreError):
    """The thing's state does not allow this; the message says which would.  Nothing was written."""


class OwnWork(StoreError):
    """Whoever made a thing may not decide about it; nothing was written."""


class InUse(StoreError):
    """Other things refer to this one; nothing was written."""


class KeyReused(StoreError):
    """The idempotency key belongs to another request; nothing was written."""


class TooLarge(StoreError):
    """The thing does not fit one document of the database (16 MiB); nothing was written."""


class EmbeddedMongoDBError(StoreError):
    """The embedded mongod could not be started; the message says what to do about it."""
