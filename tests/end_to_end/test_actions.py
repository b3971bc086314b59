"""Several actions in one request, from HTTP to the X server and back."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.desktop import Witness
from tests.end_to_end.system import Workstation, presses
from tests.processes import ServedApi, ServerProcess


@pytest.fixture(scope="module")
def desk(
    shared_server: ServerProcess,
    api: ServedApi,
    display: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Workstation]:
    """A machine that stays connected for all tests here."""
    workstation = Workstation.added(
        shared_server.url, api, display, tmp_path_factory.mktemp("desk")
    )
    with workstation.joined():
        yield workstation


def test_actions_happen_once_in_their_order(desk: Workstation, witness: Witness) -> None:
    actions: list[dict[str, Any]] = [
        {"operation": "mouse.click", "x": 100, "y": 200},
        {"operation": "wait", "seconds": 0.1},
        {"operation": "keyboard.key", "text": "ctrl+a"},
        {"operation": "keyboard.type", "text": "b"},
    ]
    first = desk.act(actions, key="once")
    assert first.status == 200, first.body
    assert [each["status"] for each in first.json["actions"]] == ["completed"] * 4
    assert (first.json["status"], first.json["screenshot"]) == ("completed", None)
    assert first.json["pointer"] == {"x": 100, "y": 200}
    done = presses(witness.take())
    assert done[:2] == ["ButtonPress 1", "ButtonRelease 1"]
    assert len(done) == 8

    again = desk.act(actions, key="once")
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.body == first.body
    assert presses(witness.take()) == []
