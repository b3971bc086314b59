# Made of farhand/_async by client/unasync.py: change it there.
"""Recordings: what is done on a machine becomes the steps of a trajectory."""

from collections.abc import Iterator
from typing import Literal
from urllib.parse import quote
from uuid import UUID

from farhand._sync.connection import Connection
from farhand._sync.lists import Lists
from farhand.types import Recording


class Recordings:
    """What is done on machines becomes the steps of trajectories."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def start(
        self,
        machine_id: str,
        *,
        workflow: UUID | str | None = None,
        name: str | None = None,
        of: Literal["everybody", "me"] = "everybody",
        keep_texts: bool = False,
    ) -> Recording:
        """Record a machine until `stop`: everybody's inputs, or those alone that come with
        this token.

        Without a ``workflow`` a new one is made.  ``keep_texts`` keeps what is typed also where the
        field may be a password's.
        """
        body = {
            "workflow_id": None if workflow is None else str(workflow),
            "name": name,
            "of": of,
            "keep_texts": keep_texts,
        }
        path = f"/v1/machines/{quote(machine_id, safe='')}/recordings"
        return self._connection.call(Recording, "POST", path, body)

    def list(
        self,
        *,
        machine_id: str | None = None,
        state: Literal["recording", "stopped"] | None = None,
        limit: int | None = None,
    ) -> Iterator[Recording]:
        """All, or the first ``limit``, newest first; of one machine, or in one state."""
        asked = {"machine_id": machine_id, "state": state}
        given = {name: value for name, value in asked.items() if value is not None}
        return Lists(self._connection).items(Recording, "/v1/recordings", given, limit)

    def get(self, recording_id: UUID | str) -> Recording:
        """One recording."""
        return self._connection.call(Recording, "GET", f"/v1/recordings/{recording_id}")

    def secret(self, recording_id: UUID | str, *, on: bool = True) -> Recording:
        """Have what is typed from now on be a secret, whatever is known of its field; or not.

        Its field is blacked out on pictures for as long as it is on the screen.
        """
        path = f"/v1/recordings/{recording_id}/secret"
        return self._connection.call(Recording, "POST", path, {"on": on}, is_repeatable=True)

    def stop(self, recording_id: UUID | str) -> Recording:
        """Stop a recording: all steps are in its trajectory then."""
        path = f"/v1/recordings/{recording_id}/stop"
        return self._connection.call(Recording, "POST", path, is_repeatable=True)
