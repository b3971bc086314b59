"""How long everybody waits: whoever waits for a command waits as long as one may take."""

import re
from pathlib import Path

import pytest

from schemas.inputs.actions import (
    LONGEST_COMMAND_SECONDS,
    MAX_SECONDS,
    MAX_SETTLE_SECONDS,
    Actions,
)
from schemas.inputs.bodies import MAX_HOLD_SECONDS, DragMouse, TypeText
from schemas.inputs.texts import MAX_TYPING_SECONDS, TYPING_SECONDS
from server.api.machines.actions import PICTURES_SECONDS
from server.dispatch.questions.screens import FetchPicture
from server.machines.link.commands import RUNNING_SECONDS
from server.settings import ServerSettings
from server.workers.group import CLOSING_SECONDS

ROOT = Path(__file__).parent.parent
INPUT_TIMEOUT, STOP_TIMEOUT = (
    ServerSettings.model_fields[name].default for name in ("input_timeout", "stop_timeout")
)
LONGEST_ANSWER_SECONDS = (
    INPUT_TIMEOUT + LONGEST_COMMAND_SECONDS + PICTURES_SECONDS + FetchPicture.answer_seconds
)


def numbers(file: str, pattern: str) -> list[int]:
    """All that a pattern finds in a file; there is one at least."""
    found = [int(each) for each in re.findall(pattern, (ROOT / file).read_text())]
    assert found, f"{file} has no {pattern}"
    return found


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("config/nginx.conf", r"proxy_read_timeout (\d+)s;"),
        ("config/cluster/nginx.conf", r"proxy_read_timeout (\d+)s;"),
        ("docs/reference/proxies.md", r"response_header_timeout (\d+)s"),
        ("docs/reference/proxies.md", r"timeout (?:client|server) (\d+)s"),
        ("docs/reference/proxies.md", r'proxy-(?:read|send)-timeout: "(\d+)"'),
        ("docs/reference/proxies.md", r"(?:should wait|It waits) (\d+) s"),
        ("docs/reference/answers.md", r"same key, wait (\d+) s for an answer"),
        ("client/farhand/_async/client.py", r"DEFAULT_TIMEOUT = (\d+)"),
    ],
)
def test_proxies_and_clients_wait_until_the_longest_command_is_answered(
    file: str, pattern: str
) -> None:
    assert min(numbers(file, pattern)) >= LONGEST_ANSWER_SECONDS


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("config/farhand.service", r"TimeoutStopSec=(\d+)"),
        ("config/cluster/compose.yaml", r"stop_grace_period: (\d+)s"),
        ("docs/reference/proxies.md", r"terminationGracePeriodSeconds: (\d+)"),
        ("docs/reference/proxies.md", r"must wait (\d+) s"),
    ],
)
def test_what_ends_a_server_waits_until_it_has_ended(file: str, pattern: str) -> None:
    assert min(numbers(file, pattern)) >= STOP_TIMEOUT + CLOSING_SECONDS


def test_server_that_stops_waits_for_the_longest_command() -> None:
    assert STOP_TIMEOUT >= INPUT_TIMEOUT + LONGEST_COMMAND_SECONDS


def test_command_that_a_machine_says_still_runs_is_waited_for() -> None:
    assert RUNNING_SECONDS >= LONGEST_COMMAND_SECONDS + INPUT_TIMEOUT


def test_no_command_takes_longer_by_its_own_terms() -> None:
    waiting = {"operation": "wait", "seconds": MAX_SECONDS}
    closing = {"settle": MAX_SETTLE_SECONDS}
    actions = Actions.model_validate({"actions": [waiting], "screenshot": closing})
    drag = DragMouse.model_validate(
        {"start_x": 0, "start_y": 0, "to_x": 1, "to_y": 1, "duration": 60}
    )
    text = TypeText.model_validate({"text": "ñ" * round(MAX_TYPING_SECONDS / TYPING_SECONDS)})
    singles = [drag.own_seconds, text.own_seconds, MAX_HOLD_SECONDS]
    assert max(singles) <= actions.own_seconds == LONGEST_COMMAND_SECONDS


def test_page_says_how_long_that_is() -> None:
    rows = dict(
        re.findall(
            r"^\| (.*?) \| (\d+) \|$",
            (ROOT / "docs/reference/proxies.md").read_text(),
            re.MULTILINE,
        )
    )
    parts = INPUT_TIMEOUT, LONGEST_COMMAND_SECONDS, PICTURES_SECONDS + FetchPicture.answer_seconds
    assert [int(each) for each in rows.values()] == [*parts, LONGEST_ANSWER_SECONDS]
