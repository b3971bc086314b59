"""A link's core, as a script speaks to it."""

import pytest

from tests.machine_client.session_script import Script


@pytest.fixture
def script() -> Script:
    """On a link that was greeted."""
    return Script()
