"""``farhand session`` against a real server."""

import json
from contextlib import closing
from uuid import uuid4

import httpx

from tests.commandline import Served
from tests.processes import WAIT_SECONDS

OF_THE_CONSOLE = {"Farhand-Console": "1", "Sec-Fetch-Site": "same-origin"}


def signed_in(served: Served, user_agent: str) -> tuple[httpx.Client, str]:
    """A browser that is signed in with a token of its own, and the token's id."""
    made = json.loads(served.run("token", "create", "--name", "of Anna", "--json").stdout)
    headers = {**OF_THE_CONSOLE, "User-Agent": user_agent}
    browser = httpx.Client(base_url=served.url, headers=headers, timeout=WAIT_SECONDS)
    answer = browser.post("/console/session", json={"token": made["token"]})
    assert answer.status_code == 204
    return browser, made["id"]


def test_sessions_are_listed_and_ended(served: Served) -> None:
    browser, token_id = signed_in(served, "A browser")
    with closing(browser):
        listed = json.loads(served.run("session", "list", "--json").stdout)
        assert token_id in [each["token_id"] for each in listed["items"]]
        of_token = served.run("session", "list", "--token-id", token_id)
        [line] = [each for each in of_token.stdout.splitlines() if "of Anna" in each]
        assert "A browser" in line
        ended = served.run("session", "end", line.split()[0])
        assert (ended.exit_code, ended.stdout) == (0, "")
        assert browser.get("/console/session").status_code == 401
    left = served.run("session", "list", "--token-id", token_id, "--json")
    assert json.loads(left.stdout)["items"] == []


def test_session_that_is_not_there_is_told(served: Served) -> None:
    unknown = uuid4()
    refused = served.run("session", "end", str(unknown))
    assert refused.exit_code == 1
    assert f"there is no session {unknown}" in refused.stderr
