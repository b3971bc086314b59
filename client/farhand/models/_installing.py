"""The vendors' SDKs, which only their extras bring."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def needs(package: str, extra: str) -> Iterator[None]:
    """Import what needs a package.  Raises ModuleNotFoundError that says how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or not (
            package == error.name or package.startswith(f"{error.name}.")
        ):
            raise
        said = f"{package} is not installed: pip install 'farhand-client[{extra}]'"
        raise ModuleNotFoundError(said, name=error.name) from None
