"""``farhand recording`` against a real server."""

import json

from tests.commandline import Served


def test_recordings_are_listed_shown_and_stopped_and_need_a_machine(served: Served) -> None:
    assert served.run("machine", "add", "desk-of-recordings").exit_code == 0
    offline = served.run("recording", "start", "desk-of-recordings", "--mine")
    assert (offline.exit_code, "not connected" in offline.stderr) == (1, True)
    listed = served.run("recording", "list", "--machine", "desk-of-recordings", "--json").stdout
    assert json.loads(listed)["items"] == []
    nobody = "00000000-0000-4000-8000-000000000001"
    for command in ("show", "secret", "stop"):
        gone = served.run("recording", command, nobody)
        assert (gone.exit_code, "there is no recording" in gone.stderr) == (1, True)
