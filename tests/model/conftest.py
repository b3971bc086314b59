"""What the tests of the model share."""

from collections.abc import Iterator

import pytest

from tests.model.canonical import forget_forms
from tests.model.successors import forget_successors


@pytest.fixture(autouse=True, scope="module")
def nothing_is_kept() -> Iterator[None]:
    """Let go of millions of states with a file's end: every collection would look at each."""
    yield
    forget_successors()
    forget_forms()
