"""How an input of a session is tried again: under a new key only where it never happened."""

import json
from pathlib import Path
from typing import Any

import pytest

import farhand
from farhand import Farhand
from tests.client.scripted_server import (
    GONE,
    ScriptedServer,
    answer,
    problem,
    result,
    scripted_server,
)

DONE = answer(200, result())
NEVER = problem("not-carried-out", 503, final=True)


def click(server: ScriptedServer, file: Path, x: int = 640, **options: Any) -> Any:
    with (
        Farhand(server.url, "token", **options) as client,
        client.session("order", file=file) as session,
    ):
        return session.machine("reception").click(x, 360)


def test_input_that_never_happened_is_tried_under_a_new_key(tmp_path: Path) -> None:
    expired = problem("input-expired", 504, final=True)
    with scripted_server(GONE, NEVER, NEVER, expired, GONE, DONE) as server:
        done = click(server, tmp_path / "file")
    first, first_again, second, third, fourth, fourth_again = server.keys
    assert (first, fourth, fourth) == (first_again, fourth_again, done.key)
    assert len({first, second, third, fourth}) == 4


def test_tries_come_to_an_end_and_the_next_run_has_more(tmp_path: Path) -> None:
    with scripted_server(NEVER) as server:
        for _ in range(2):
            with pytest.raises(farhand.NotCarriedOut):
                click(server, tmp_path / "file")
    assert len({*server.keys}) == len(server.keys) == 20


def test_time_is_for_all_tries_together(tmp_path: Path) -> None:
    with scripted_server(NEVER) as server, pytest.raises(farhand.FarhandError):
        click(server, tmp_path / "file", timeout=0)
    assert len({*server.keys}) <= 1


@pytest.mark.parametrize(
    "name", ["outcome-unknown", "input-failed", "actions-stopped", "control-ended", "forbidden"]
)
def test_what_may_have_happened_or_is_refused_is_tried_once(tmp_path: Path, name: str) -> None:
    with scripted_server(problem(name, 502, final=True)) as server:
        with pytest.raises(farhand.Problem):
            click(server, tmp_path / "file")
        assert len(server.asked) == 1


def test_what_was_answered_is_not_asked_for_again(tmp_path: Path) -> None:
    unknown = problem("outcome-unknown", 502, final=True)

    def run(server: ScriptedServer) -> list[tuple[str, bool, str | None]]:
        told: list[tuple[str, bool, str | None]] = []
        with (
            Farhand(server.url, "token") as client,
            client.session("order", file=tmp_path / "file") as session,
        ):
            machine = session.machine("reception")
            for x in (1, 2):
                try:
                    done = machine.actions([{"operation": "mouse.click", "x": x, "y": 1}])
                    told.append((done.status, done.screenshot is None, done.key))
                except farhand.OutcomeUnknown as error:
                    told.append((str(error), error.may_have_happened, error.key))
            if len(server.asked) < 3:
                machine.click()  # Nobody answers any more.
        return told

    picture = {
        "format": "png",
        "width": 1,
        "height": 1,
        "region": {"x": 0, "y": 0, "width": 1, "height": 1},
        "content": "AAAA",
    }
    done = answer(200, result(actions=[], screenshot=picture))
    with scripted_server(unknown, done, problem("forbidden", 403)) as server:
        with pytest.raises(farhand.Forbidden):
            run(server)
        first, second = run(server)
    assert len(server.asked) == 3
    assert first == ("outcome-unknown: outcome-unknown in detail", True, server.keys[0])
    assert second == ("completed", True, server.keys[1])
    assert b"AAAA" not in (tmp_path / "file").read_bytes()


def test_page_of_somebody_else_is_no_answer(tmp_path: Path) -> None:
    portal = answer(200, b"<h1>Sign in</h1>", media="text/html")
    with scripted_server(portal, DONE) as server:
        with pytest.raises(farhand.NotFarhand):
            click(server, tmp_path / "file")
        assert click(server, tmp_path / "file").status == "completed"
    assert server.keys[0] == server.keys[1]


def test_refusal_after_a_try_without_an_answer_leaves_the_input_open(tmp_path: Path) -> None:
    with scripted_server(GONE, problem("forbidden", 403), DONE) as server:
        with pytest.raises(farhand.Forbidden) as caught:
            click(server, tmp_path / "file")
        assert caught.value.may_have_happened
        with pytest.raises(farhand.SessionChanged):
            click(server, tmp_path / "file", x=1)
        click(server, tmp_path / "file")
    assert len({*server.keys}) == 1


def test_input_is_in_the_file_before_it_is_sent(tmp_path: Path) -> None:
    file = tmp_path / "file"
    known: list[Any] = []

    def look() -> bytes:
        known.append([json.loads(each) for each in file.read_bytes().splitlines()])
        return DONE

    with scripted_server(DONE) as server:
        server.answer = look  # type: ignore[method-assign]
        click(server, file)
    ((head, begun),) = known
    assert head["session"] == "order"
    assert (begun["step"], begun["attempt"]) == (0, 0)


def test_key_of_the_callers_own_is_refused(tmp_path: Path) -> None:
    with Farhand("http://127.0.0.1:1", "token") as client:
        session = client.session("order", file=tmp_path / "file")
        with pytest.raises(ValueError, match="leave key out"), session:
            session.machine("reception").click(key="mine")
