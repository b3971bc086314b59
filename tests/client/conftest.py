"""The server's fixtures: a real one on a real MongoDB, and machines that tests play."""

from tests.server.conftest import *  # noqa: F403 - its fixtures
