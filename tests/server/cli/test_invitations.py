"""``farhand invitation`` and ``farhand machine invite`` against a real server."""

import json
from uuid import uuid4

from tests.commandline import Served


def test_invitation_is_made_listed_shown_and_revoked(served: Served) -> None:
    made = served.run("invitation", "create", "--uses", "50", "--approval", "--expires-in", "2h")
    assert made.exit_code == 0
    assert made.stdout.startswith("fhj_")
    listed = json.loads(served.run("invitation", "list", "--json").stdout)["items"]
    assert (listed[0]["uses"], listed[0]["approval"]) == (50, True)
    shown = served.run("invitation", "show", listed[0]["id"], "--json")
    assert json.loads(shown.stdout)["items"] == []
    assert served.run("invitation", "revoke", listed[0]["id"]).exit_code == 0
    left = json.loads(served.run("invitation", "list", "--json").stdout)["items"]
    assert listed[0]["id"] not in [each["id"] for each in left]


def test_machine_is_invited_and_added(served: Served) -> None:
    machine_id = f"desk-{uuid4().hex[:8]}"
    made = served.run("machine", "invite", machine_id)
    assert (made.exit_code, made.stdout[:4]) == (0, "fhj_")
    assert served.run("machine", "show", machine_id).exit_code == 0


def test_what_is_wrong_is_said_in_the_words_of_the_command(served: Served) -> None:
    refused = served.run("invitation", "create", "--uses", "0")
    assert refused.exit_code == 1
    assert "--uses" in refused.stderr
    for command in ("approve", "refuse"):
        unknown = served.run("invitation", command, str(uuid4()), str(uuid4()))
        assert unknown.exit_code == 1
        assert "there is no invitation" in unknown.stderr
