"""Texts and pictures on a real screen: read, waited for, and acted upon once they are there."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.desktop import Witness
from tests.end_to_end.system import Workstation, presses
from tests.processes import Answer, ServedApi, ServerProcess
from tests.signs import DARK, Sign, base64_png, drawn

PLACE = (300, 200)
REGION = {"x": 300, "y": 200, "width": 400, "height": 100}
SAVED = {"text": "Saved", "region": REGION}


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


@pytest.fixture
def sign(display: str) -> Iterator[Sign]:
    with Sign(display, drawn("Total (3)"), PLACE) as shown:
        yield shown


def waited(desk: Workstation, *conditions: dict[str, Any], timeout: float = 60) -> Answer:
    path = f"/v1/computer/{desk.machine}/wait"
    return desk.api.call("POST", path, {"any": conditions, "timeout": timeout})


def read(desk: Workstation, region: str | None = None) -> Answer:
    query = "" if region is None else f"?region={region}"
    return desk.api.call("GET", f"/v1/computer/{desk.machine}/display/texts{query}")


def is_on_sign(at: dict[str, int]) -> bool:
    return (
        300 <= at["x"] < at["x"] + at["width"] <= 700
        and 200 <= at["y"] < at["y"] + at["height"] <= 300
    )


@pytest.mark.usefixtures("sign")
def test_texts_are_read_with_their_places(desk: Workstation) -> None:
    whole, part = read(desk), read(desk, "300,200,400,100")
    assert (whole.status, part.status) == (200, 200), (whole.body, part.body)
    assert part.json["region"] == REGION
    for answer in (whole, part):
        (text,) = answer.json["texts"]
        assert text["text"] == "Total (3)"
        assert text["score"] > 0.8
        assert is_on_sign(text["at"])


@pytest.mark.usefixtures("sign")
def test_region_beside_the_desktop_is_refused(desk: Workstation) -> None:
    refused = read(desk, "1200,700,400,400")
    assert refused.json["detail"][0]["loc"] == ["query", "region"]
    assert refused.json["detail"][0]["type"] == "region_outside_desktop"


@pytest.mark.usefixtures("sign")
def test_text_that_is_there_is_seen_and_one_that_is_not_ends_with_what_is(
    desk: Workstation,
) -> None:
    there = waited(desk, {"text": "Total (3)"})
    assert (there.json["matched"], there.json["seen"]) == (0, [])
    assert is_on_sign(there.json["at"])
    # A part of a word, other letters, and what only looks alike are not it.
    likes = {"text": "Tot"}, {"text": "total (3)"}, {"text": "T0tal (3)"}
    for timeout in (10, 20, 60):
        missing = waited(desk, *likes, timeout=timeout)
        assert (missing.json["matched"], missing.json["at"]) == (None, None)
        # A busy machine may need longer to read its screen once.
        if missing.json["seen"]:
            break
    assert missing.json["seen"] == ["Total (3)"]


def test_wait_ends_when_its_text_appears_and_when_it_is_gone(desk: Workstation, sign: Sign) -> None:
    answers: list[Answer] = []
    other = base64_png(drawn("Total (8)").crop((10, 30, 120, 70)))
    waiting = threading.Thread(
        target=lambda: answers.append(waited(desk, {"picture": other}, {"text": "Other"}, SAVED))
    )
    waiting.start()
    sign.show(drawn("Saved", colours=DARK))
    waiting.join()
    assert answers[0].json["matched"] == 2
    assert is_on_sign(answers[0].json["at"])
    waiting = threading.Thread(target=lambda: answers.append(waited(desk, {**SAVED, "gone": True})))
    waiting.start()
    sign.show(drawn("Total (4)"))
    waiting.join()
    assert (answers[1].json["matched"], answers[1].json["at"]) == (0, None)


@pytest.mark.usefixtures("sign")
def test_picture_is_found_by_what_it_shows_and_by_its_id(desk: Workstation) -> None:
    cut = drawn("Total (3)").crop((10, 30, 120, 70))
    other = drawn("Total (8)").crop((10, 30, 120, 70))
    in_dark = drawn("Total (3)", colours=DARK).crop((10, 30, 120, 70))
    for picture in (cut, in_dark):
        found = waited(desk, {"picture": base64_png(picture)})
        assert found.json["matched"] == 0
        assert found.json["at"] == {"x": 310, "y": 230, "width": 110, "height": 40}
    gone = waited(desk, {"picture": base64_png(other), "gone": True})
    assert (gone.json["matched"], gone.json["at"]) == (0, None)
    missing = waited(desk, {"picture": base64_png(other)}, timeout=2)
    assert missing.json["matched"] is None


def test_actions_go_on_once_the_text_is_there_and_stop_where_it_is_not(
    desk: Workstation, sign: Sign, witness: Witness
) -> None:
    waiting = {"operation": "wait_for", "any": [SAVED], "timeout": 60}
    click = {"operation": "mouse.click", "x": 20, "y": 20}
    answers: list[Answer] = []
    acting = threading.Thread(
        target=lambda: answers.append(desk.act([waiting, click], key="comes"))
    )
    acting.start()
    sign.show(drawn("Saved"))
    acting.join()
    assert answers[0].status == 200, answers[0].body
    assert answers[0].json["actions"][0]["matched"] == 0
    assert is_on_sign(answers[0].json["actions"][0]["at"])
    assert len(presses(witness.take())) == 2

    sign.show(drawn("Failed"))
    stopped = desk.act([{**waiting, "timeout": 1}, click], key="stays-away")
    assert (stopped.status, stopped.json["type"]) == (409, "/problems/actions-stopped")
    assert [each["status"] for each in stopped.json["actions"]] == ["not_seen", "not_begun"]
    going_on = {**waiting, "timeout": 1, "on_timeout": "continue"}
    assert desk.act([going_on, click], key="goes-on").status == 200
    assert len(presses(witness.take())) == 2
