"""The vendors' SDKs, which only their extras bring."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def needs(package: str, extra: str) -> Iterator[None]:
    """Import what needs a package.  Raises ModuleNotFoundError that says how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        missing = f"{error.name}."
        if not (missing.startswith(f"{package}.") or f"{package}.".startswith(missing)):
            raise
        said = f"{package} is not installed, or too old: pip install 'farhand-client[{extra}]'"
        raise ModuleNotFoundError(said, name=error.name) from None
