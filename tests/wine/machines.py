"""A machine whose client runs under Wine, and what is asked of it through its server here."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.processes import Answer, ServedApi, ServerProcess, until
from tests.waiting import eventually
from tests.wine.interpreter import windows_path
from tests.wine.programs import WineDesktop, WineProgram

SETTINGS = {"heartbeat": "1", "input_timeout": "8", "token_check": "0.5"}
PLACE = {"x": 900, "y": 700}
CLICK = ["down left", "up left"]


@dataclass(frozen=True)
class Machine:
    """A machine that was added, whose client runs where its user's name has more than ASCII.

    ``home`` is that user's own directory.
    """

    name: str
    token: str
    api: ServedApi
    server: ServerProcess
    desktop: WineDesktop
    home: Path
    token_file: Path

    def joined(self, *options: str, failpoints: str = "") -> AbstractContextManager[WineProgram]:
        """Its machine client, in a session that reaches its directories by their Windows names."""
        armed = {"FARHAND_FAILPOINTS": failpoints} if failpoints else {}
        testing = ["--testing"] if failpoints else []
        return self._client("join", *testing, *options, **armed)

    def doctor(self) -> AbstractContextManager[WineProgram]:
        """What it finds of this machine."""
        return self._client("doctor")

    def send(self, operation: str, key: str | None = None, **body: object) -> Answer:
        """Send an input such as ``mouse/move``, or copy a text: that is ``clipboard``."""
        if operation != "clipboard":
            return self.api.send(self.name, operation, body, key)
        headers = {} if key is None else {"Idempotency-Key": key}
        return self.api.call("PUT", f"/v1/computer/{self.name}/clipboard", body, headers)

    def final(self, operation: str, key: str, **body: Any) -> Answer:
        """Send the same input until its answer is final; then once more: it stays the same."""

        def answer() -> Answer | None:
            given = self.send(operation, key, **body)
            is_final = given.status == 200 or given.json.get("final") is True
            return given if is_final else None

        found = eventually(answer, "the answer is final")
        again = self.send(operation, key, **body)
        assert (again.status, again.body) == (found.status, found.body)
        return found

    def is_online(self) -> None:
        until(lambda: self.api.is_in_state(self.name, "online"), "the machine is online")

    def get(self, what: str) -> Answer:
        return self.api.call("GET", f"/v1/computer/{self.name}/{what}")

    def _client(
        self, command: str, *more: str, **variables: str
    ) -> AbstractContextManager[WineProgram]:
        self.token_file.parent.mkdir(parents=True, exist_ok=True)
        self.token_file.write_text(self.token)
        return self.desktop.running(
            *("-m", "tests.wine.as_user", windows_path(self.home), "machine_client", command),
            *("--server", self.server.url, "--token-file", windows_path(self.token_file), *more),
            **variables,
        )
