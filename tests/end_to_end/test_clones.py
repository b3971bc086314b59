"""A disk is copied, and each copy is started: one goes on, all others are told of."""

import http.client
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

from tests.end_to_end.clones import MACHINE, cloned
from tests.end_to_end.event_streams import told
from tests.processes import WAIT_SECONDS, ServedApi, ServerProcess

HOSTS = 4


def test_clones_are_told_and_one_goes_on_and_nothing_arrives_twice(
    shared_server: ServerProcess, api: ServedApi, display: str, tmp_path: Path
) -> None:
    said = f"{HOSTS - 1} other hosts come with its token"
    connection = http.client.HTTPConnection(
        urlsplit(shared_server.url).netloc, timeout=WAIT_SECONDS
    )
    with closing(connection):
        events = told(connection, api.token)
        with cloned(shared_server, api, display, tmp_path, HOSTS) as seen:
            assert (seen.twice, seen.missing) == (0, 0)
            assert seen.answers[200] >= 20
            assert seen.waiting >= HOSTS - 1
            assert seen.reason.startswith(f"connected, but {said}")
            assert seen.reason.endswith("delete the token's file, and join with a code")
            found = api.call("GET", "/v1/machines?state=online&search=clones").json["items"]
            assert [each["id"] for each in found] == [MACHINE]
            next(event for _, event in events if said in str(event))
    assert said in (shared_server.directory / "server.log").read_text()
