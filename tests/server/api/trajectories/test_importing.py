"""The import over HTTP: every line has its answer, and nothing is lost or there twice."""

import asyncio
import json
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from schemas.resources.tokens import Scope
from schemas.resources.trajectories import MAX_TRAJECTORY_BYTES, MAX_TRAJECTORY_VALUES
from server.trajectories import creation
from tests.imports import CHUNKED, REQUEST, imported, kept, line, outcomes, send
from tests.raw_http import connection, head
from tests.service import PATIENCE_SECONDS, Service


async def audited(service: Service) -> list[str]:
    reply = await service.get("/v1/audit?action=trajectory.created&limit=1000")
    return [entry["target"] for entry in reply.json["items"]]


async def test_each_line_is_stored_told_and_recorded_as_one_that_is_posted(
    service: Service,
) -> None:
    told: list[str] = []
    events = service.server.services.events
    subscription = await events.subscribe(service.organization_id, None, lambda _: True)
    own = [str(uuid4()) for _ in range(600)]
    lines = [line(id=each, name=f"number {n}") for n, each in enumerate(own)]
    lines[1] = line(id=own[1], created_at="2024-01-01T00:00:00Z", is_approved=True, name="ü")
    answers = await imported(service, lines)
    assert answers == [
        {"line": number, "outcome": "imported", "id": each} for number, each in enumerate(own, 1)
    ]
    items = await kept(service)
    assert {item["id"] for item in items} == set(own)
    assert items[-1]["name"] == "ü"
    assert items[-1]["created_at"] == "2024-01-01T00:00:00.000Z"
    assert items[-1]["is_approved"]
    assert sorted(await audited(service)) == sorted(own)
    while len(told) < len(own):
        await subscription.wait(PATIENCE_SECONDS)
        taken = subscription.take(1000)
        assert taken
        told += [json.loads(event.data)["id"] for event in taken if event.type == "trajectory"]
    assert told == own


async def test_lines_without_an_id_are_each_a_new_one(service: Service) -> None:
    text = line(id=None)
    answers = await imported(service, [text, text, text])
    assert outcomes(answers) == ["imported"] * 3
    assert len({each["id"] for each in answers}) == 3
    assert len(await kept(service)) == 3


@pytest.mark.parametrize("key", [{}, {"Idempotency_Key": "file"}])
async def test_lines_of_one_millisecond_are_listed_in_the_order_of_their_file(
    service: Service, monkeypatch: pytest.MonkeyPatch, key: dict[str, str]
) -> None:
    monkeypatch.setattr(creation, "now", lambda: datetime(2024, 1, 1, tzinfo=UTC))
    lines = [line(id=None, name=str(number)) for number in range(300)]
    assert outcomes(await imported(service, lines, **key)) == ["imported"] * 300
    names = [item["name"] for item in await kept(service)]
    assert names == [str(number) for number in reversed(range(300))]


async def test_wrong_lines_are_answered_as_a_request_would_be_and_the_others_are_stored(
    service: Service,
) -> None:
    wrong = {
        2: b"not json",
        3: line(name="n" * 256),
        5: line(workflow_id="no-uuid"),
        6: line(dimensions={"width": 1.5, "height": 1}).replace(b"1.5", b"NaN"),
        7: line(surplus=1),
        8: b"[]",
        9: b"\xff\xfe",
        10: line(**{f"k{number}": number for number in range(900)}),
        11: b'{"trajectory_data": [' * 5000,
        12: line(created_at="2024-01-02T00:00:00Z", updated_at="2024-01-01T00:00:00Z"),
    }
    good = {1: line(), 13: line()}
    texts = {4: b" \r", **wrong, **good}
    sent = [texts[number].rstrip(b"\n") + b"\n" for number in sorted(texts)]
    answers = {each.pop("line"): each for each in await imported(service, sent)}
    assert list(answers) == [number for number in sorted(texts) if number != 4]
    assert [number for number in answers if answers[number]["outcome"] == "imported"] == [1, 13]
    for number, text in wrong.items():
        reply = await service.post("/v1/trajectories", content=text)
        assert reply.status == 422
        entries = reply.json["detail"]
        for entry in entries:
            del entry["input"]
        assert answers[number] == {"outcome": "wrong", "error": {"detail": entries}}, number
    assert len(await kept(service)) == 2
    assert len(await audited(service)) == 2


async def test_second_import_of_the_same_lines_changes_nothing(service: Service) -> None:
    lines = [
        line(name=None, description="d", run_id=str(uuid4()), original_input_values={"a": 1.0}),
        line(trajectory_data=None),
        line(trajectory_data=[]),
        line(updated_at="2024-01-02T00:00:00.0004Z"),
        line(is_generated=False, is_approved=True, created_at="2024-01-02T00:00:00Z"),
    ]
    first = await imported(service, lines)
    before = await kept(service)
    again = await imported(service, [line(), *lines])
    assert outcomes(again) == ["imported", *["there_already"] * len(lines)]
    assert [each["id"] for each in again[1:]] == [each["id"] for each in first]
    assert [item for item in await kept(service) if item["id"] != again[0]["id"]] == before
    assert len(await audited(service)) == len(lines) + 1


@pytest.mark.parametrize(
    "change",
    [
        {"name": "other"},
        {"trajectory_data": [{"n": 1}, {"n": 2.0}]},
        {"trajectory_data": [{"n": 1}]},
        {"trajectory_data": [{"n": 1}, {"n": 2}, {}]},
        {"trajectory_data": []},
        {"trajectory_data": None},
        {"is_approved": False},
        {"dimensions": {"width": 2, "height": 2}},
        {"created_at": "2024-01-01T00:00:00.001Z"},
        {"updated_at": "2024-01-01T00:00:00.001Z"},
    ],
)
async def test_another_one_with_the_id_of_a_line_stays_as_it_is(
    service: Service, change: dict[str, Any]
) -> None:
    given = {
        "id": str(uuid4()),
        "is_approved": True,
        "is_generated": True,
        "trajectory_data": [{"n": 1}, {"n": 2}],
        "created_at": "2024-01-01T00:00:00Z",
    }
    await imported(service, [line(**given)])
    before = await kept(service)
    # Within one request, too: the second of both is compared with what the first has left.
    fresh = {**given, "id": str(uuid4())}
    (own, first, second) = await imported(
        service, [line(**{**given, **change}), line(**fresh), line(**{**fresh, **change})]
    )
    assert first["outcome"] == "imported"
    for answer in (own, second):
        assert answer["outcome"] == "wrong"
        assert answer["error"]["type"] == "/problems/already-exists"
        assert answer["error"]["detail"] == "there is another trajectory with this id already"
        assert answer["error"]["status"] == 409
    assert [item for item in await kept(service) if item["id"] == given["id"]] == before


async def test_steps_that_were_appended_are_compared_with_those_of_a_line(
    service: Service,
) -> None:
    own = str(uuid4())
    steps = [{"n": number, "text": "x" * 300_000} for number in range(6)]
    await imported(service, [line(id=own, trajectory_data=steps[:1], is_generated=False)])
    for step in steps[1:]:
        reply = await service.post(f"/v1/trajectories/{own}/steps", {"steps": [step]})
        assert reply.status == 200
    other = [*steps[:-1], {**steps[-1], "n": 6}]
    again = await imported(
        service,
        [
            line(id=own, trajectory_data=steps, is_generated=False),
            line(id=own, trajectory_data=other, is_generated=False),
            line(id=own, trajectory_data=steps[:5], is_generated=False),
        ],
    )
    assert outcomes(again) == ["there_already", "wrong", "wrong"]


async def test_lines_sent_again_under_their_key_keep_the_ids_that_they_were_given(
    service: Service,
) -> None:
    lines = [line(id=None, name=str(number)) for number in range(5)]
    first = await imported(service, lines[:3], Idempotency_Key="file-1")
    assert outcomes(first) == ["imported"] * 3
    again = await imported(service, lines, Idempotency_Key='"file-1"')
    assert outcomes(again) == [*["there_already"] * 3, *["imported"] * 2]
    assert [each["id"] for each in again[:3]] == [each["id"] for each in first]
    assert len(await kept(service)) == 5
    changed = await imported(service, [lines[1]], Idempotency_Key="file-1")
    assert outcomes(changed) == ["wrong"]
    other = await imported(service, lines, Idempotency_Key="file-2")
    assert outcomes(other) == ["imported"] * 5
    elsewhere = await imported(await service.elsewhere(), lines, Idempotency_Key="file-1")
    assert outcomes(elsewhere) == ["imported"] * 5
    assert not {each["id"] for each in elsewhere} & {each["id"] for each in again}


async def test_two_imports_of_the_same_lines_at_once_store_each_once(service: Service) -> None:
    lines = [line() for _ in range(300)]
    both = await asyncio.gather(imported(service, lines), imported(service, reversed(lines)))
    said = sorted(outcomes([*both[0], *both[1]]))
    assert said == [*["imported"] * 300, *["there_already"] * 300]
    assert len(await kept(service)) == 300
    assert len(await audited(service)) == 300


async def test_ids_of_other_organizations_are_not_in_the_way(service: Service) -> None:
    text = line()
    assert outcomes(await imported(service, [text])) == ["imported"]
    assert outcomes(await imported(await service.elsewhere(), [text])) == ["imported"]


@pytest.mark.parametrize("scope", [None, Scope.TRAJECTORIES_READ])
async def test_token_without_the_right_is_refused_before_a_line_is_read(
    service: Service, scope: Scope | None
) -> None:
    token = None if scope is None else await service.new_token(scope)
    async with connection(service) as client:
        await client.say(head(service, REQUEST, CHUNKED, token=token, media="x-ndjson"))
        status, _, problem = await client.answer()
        assert (status, problem["status"]) == ((401, 401) if scope is None else (403, 403))
    assert await kept(service) == []


async def test_token_that_may_not_read_stores_and_is_not_told_what_is_there(
    service: Service,
) -> None:
    token = await service.new_token(Scope.TRAJECTORIES_WRITE)
    taken = line()
    answers = await imported(service, [taken, taken, line()], token=token)
    assert outcomes(answers) == ["imported", "wrong", "imported"]
    error = answers[1]["error"]
    assert error["type"] == "/problems/already-exists"
    assert error["detail"] == (
        "there is one with this id already, of which is said: The token does not allow this: "
        "this needs a token with the scope trajectories:read"
    )


async def test_line_that_is_too_long_is_named_and_the_others_are_stored(service: Service) -> None:
    long = line(name="x" * MAX_TRAJECTORY_BYTES)
    many = line(trajectory_data=[{}] * MAX_TRAJECTORY_VALUES)
    most = line(trajectory_data=[{"text": "x"}]).rstrip().ljust(MAX_TRAJECTORY_BYTES) + b"\n"
    first, too_long, too_many, fits, last = await imported(
        service, [line(), long, many, most, line()]
    )
    assert outcomes([first, fits, last]) == ["imported"] * 3
    for answer in (too_long, too_many):
        assert answer["outcome"] == "wrong"
        assert answer["error"]["type"] == "/problems/body-too-large"
        assert answer["error"]["status"] == 413
    assert too_long["error"]["max_bytes"] == MAX_TRAJECTORY_BYTES
    assert too_long["error"]["detail"] == f"the line may have at most {MAX_TRAJECTORY_BYTES} bytes"
    assert too_many["error"]["max_values"] == MAX_TRAJECTORY_VALUES
    assert f"at most {MAX_TRAJECTORY_VALUES} JSON values" in too_many["error"]["detail"]
    assert len(await kept(service)) == 3
    assert service.server.services.operation.body_memory.used == 0


async def test_line_that_fits_a_request_and_no_document_is_wrong(service: Service) -> None:
    # Written out, each of these numbers takes 13 bytes more.
    numbers = {"numbers": [1] * 90_000, "text": "x" * (MAX_TRAJECTORY_BYTES - 500_000)}
    tight = line(trajectory_data=[numbers]).replace(b" 1,", b"1e15,")
    assert len(tight) < MAX_TRAJECTORY_BYTES
    answer, other = await imported(service, [tight, line()])
    alone = await service.post("/v1/trajectories", content=tight)
    assert (alone.status, alone.problem) == (413, "body-too-large")
    told = {**alone.json, "instance": answer["error"]["instance"]}
    assert answer == {"line": 1, "outcome": "wrong", "error": told}
    assert other["outcome"] == "imported"


@pytest.mark.parametrize("media_type", ["application/x-ndjson", "application/jsonl; charset=utf-8"])
async def test_both_names_of_json_lines_are_understood(service: Service, media_type: str) -> None:
    assert outcomes(await imported(service, [line()], Content_Type=media_type)) == ["imported"]


async def test_other_media_types_are_refused(service: Service) -> None:
    reply = await send(service, [line()], Content_Type="application/json")
    assert (reply.status, reply.problem) == (415, "unsupported-media-type")
    assert "JSON lines with Content-Type: application/x-ndjson" in reply.json["detail"]
    reply = await service.post("/v1/trajectories/import")
    assert (reply.status, reply.problem) == (415, "unsupported-media-type")


async def test_no_lines_are_nothing_to_import(service: Service) -> None:
    for lines in ([], [b"\n \n\n"]):
        assert await imported(service, lines) == []


async def test_wrong_key_is_refused_when_the_body_is_sent(service: Service) -> None:
    reply = await send(service, [line()] * 5000, Idempotency_Key="ü")
    assert reply.faults == [(["header", "Idempotency-Key"], "string_pattern_mismatch")]
    assert await kept(service) == []
