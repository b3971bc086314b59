"""A link that was just opened, and one that takes inputs."""

import pytest

from tests.links import LinkScript


@pytest.fixture
def script() -> LinkScript:
    """A link whose socket was just opened."""
    return LinkScript()


@pytest.fixture
def up(script: LinkScript) -> LinkScript:
    """A link that takes inputs."""
    script.bring_up()
    return script
