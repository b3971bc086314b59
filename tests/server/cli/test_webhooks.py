"""``farhand webhook`` against a real server."""

import json

from tests.commandline import Served


def test_webhook_is_made_tried_and_removed(served: Served) -> None:
    made = served.run("webhook", "create", "http://127.0.0.1:1/hook", "--event", "machine_offline")
    assert made.exit_code == 0, made.stderr
    assert made.stdout.startswith("whsec_")
    webhooks = json.loads(served.run("webhook", "list", "--json").stdout)["items"]
    [webhook] = [each for each in webhooks if each["id"] in made.stderr]
    assert webhook["url"] in served.run("webhook", "show", webhook["id"]).stdout
    tried = served.run("webhook", "test", webhook["id"])
    assert tried.exit_code == 1
    assert "127.0.0.1, which is no address of the internet" in tried.stderr
    listed = served.run("webhook", "deliveries", webhook["id"], "--json").stdout
    [delivery] = json.loads(listed)["items"]
    assert delivery["event"] == "test"
    assert served.run("webhook", "resend", webhook["id"], delivery["id"]).exit_code == 0
    assert served.run("webhook", "remove", webhook["id"]).exit_code == 0
    gone = served.run("webhook", "show", webhook["id"])
    assert (gone.exit_code, "there is no webhook" in gone.stderr) == (1, True)
