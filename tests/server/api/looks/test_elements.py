"""Elements over HTTP: asked for, named in inputs and waited for, on a machine that a test plays."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from schemas.inputs.outcomes import ActionResult, Failed, Outcome, Refused, Stopped, Unknown
from schemas.inputs.selectors import Sought
from schemas.link.element_messages import MAX_ELEMENTS, ElementsQuery, ElementsSeen
from schemas.link.messages import Look, Seen
from schemas.resources.tokens import Scope
from schemas.values.pictures import Region
from server.api.looks import elements
from server.api.looks.elements import DEFAULT_LIMIT
from tests.links import hello
from tests.screens import Desk
from tests.server.api.looks.test_looking import until_noted
from tests.service import PATIENCE_SECONDS, Reply, Service, new_key, scopes_without
from tests.store import entered
from tests.told_elements import element, telling, tells

PATH = "/v1/computer/desk-1/elements"
INPUT = "/v1/computer/desk-1/input"
SAVE = {"role": "push button", "name": "Save", "window": "Invoice*"}
MISSING = Refused(
    code="element_missing",
    message="there is no push button Save: it is covered by another window",
    loc=("body", "element"),
)
AMBIGUOUS = MISSING.model_copy(update={"code": "element_ambiguous", "message": "there are 2"})


@pytest.fixture
def desk(io_loop: IOLoop, service: Service) -> Iterator[Desk]:
    """A machine that tells what elements it has."""
    with entered(io_loop, service.joined(telling())) as (machine, link):
        yield Desk(service, machine, link)


def asking(service: Service, query: str = "", **options: Any) -> "asyncio.Task[Reply]":
    background = service.server.services.background
    return background.start(service.get(PATH + query, **options), "a client of the test")


def sending(
    service: Service, path: str, body: Any, key: str | None = None, **options: Any
) -> "asyncio.Task[Reply]":
    headers = {} if key is None else {"Idempotency-Key": key}
    background = service.server.services.background
    return background.start(
        service.post(path, body, headers=headers, **options), "a client of the test"
    )


async def test_elements_are_told_whole(service: Service, desk: Desk) -> None:
    asked = asking(service)
    heard = await tells(
        desk.link, element(value="a", bounds=Region(-5, 20, 80, 30)), silent=["stuck"]
    )
    assert (heard.sought, heard.at, heard.limit, heard.depth) == (Sought(), None, 200, None)
    await tells(desk.link, element())
    reply = await asked
    assert reply.status == 200
    assert reply.json == {
        "items": [
            {
                "role": "push button",
                "name": "Save",
                "value": "a",
                "states": ["enabled", "showing"],
                "bounds": {"x": -5, "y": 20, "width": 80, "height": 30},
                "window": "Invoice 4711",
                "application": "accounts",
                "depth": 3,
                "ref": "ref-push-button-Save",
                "selector": {"role": "push button", "name": "Save"},
            }
        ],
        "truncated": None,
        "silent": ["stuck"],
    }
    assert "no-store" in reply.headers["Cache-Control"]


async def test_what_is_sought_reaches_the_machine(service: Service, desk: Desk) -> None:
    asked = asking(
        service,
        "?role=push%20button&name=S*&text=a&window=W&value=v&application=p&at=-3,4&limit=7&depth=0",
    )
    heard = await tells(desk.link)
    assert heard.sought.model_dump() == {
        "role": "push button",
        "name": "S*",
        "text": "a",
        "window": "W",
        "value": "v",
        "application": "p",
    }
    assert heard.at is not None
    assert (heard.at.x, heard.at.y, heard.limit, heard.depth) == (-3, 4, 7, 0)
    assert (await asked).json["items"] == []


async def test_empty_values_of_a_query_are_none(service: Service, desk: Desk) -> None:
    asked = asking(service, "?role=&name=null&at=&limit=&depth=")
    heard = await tells(desk.link)
    assert (heard.sought, heard.at, heard.limit) == (Sought(), None, DEFAULT_LIMIT)
    assert (await asked).status == 200


async def test_list_that_is_cut_says_why(service: Service, desk: Desk) -> None:
    asked = asking(service, f"?limit={MAX_ELEMENTS}")
    told = [element(name=f"{number}", ref=f"{number}") for number in range(300)]
    await tells(desk.link, *told, truncated="size")
    for _ in range(3):
        await tells(desk.link)  # By now they are gone.
    reply = await asked
    assert (len(reply.json["items"]), reply.json["truncated"]) == (300, "size")
    assert reply.json["items"][299]["selector"] == {"ref": "299"}


@pytest.mark.parametrize(
    ("query", "place", "kind"),
    [
        ("role=knob", "role", "role_unknown"),
        ("name=" + "a" * 10_240, "name", "string_too_long"),
        ("name=a%0Ab", "name", "control_character"),
        ("name=a%5C", "name", "glob_incomplete"),
        ("text=%07", "text", "control_character"),
        ("at=1", "at", "place_malformed"),
        ("at=1,2,3", "at", "place_malformed"),
        ("at=9999999999,1", "at", "place_malformed"),
        ("limit=0", "limit", "greater_than_equal"),
        ("limit=1001", "limit", "less_than_equal"),
        ("depth=-1", "depth", "greater_than_equal"),
        ("ref=x", "ref", "extra_forbidden"),
        ("names=x", "names", "extra_forbidden"),
    ],
)
async def test_query_that_cannot_be_is_422_and_names_the_place(
    service: Service, query: str, place: str, kind: str
) -> None:
    assert (await service.get(f"{PATH}?{query}")).faults == [(["query", place], kind)]


@pytest.mark.parametrize(
    ("selector", "place", "kind"),
    [
        ({}, [], "selector_empty"),
        ({"window": "Invoice*"}, [], "selector_empty"),
        ({"role": "knob"}, ["role"], "role_unknown"),
        ({"name": "*" * 10_240}, ["name"], "string_too_long"),
        ({"name": "a" * 2**20}, ["name"], "string_too_long"),
        ({"name": "a\x00b"}, ["name"], "control_character"),
        ({"ref": "a b"}, ["ref"], "string_pattern_mismatch"),
        ({"name": "a", "nth": 2}, ["nth"], "extra_forbidden"),
    ],
    ids=str,
)
@pytest.mark.parametrize("operation", ["mouse/click", "element/invoke"])
async def test_selector_that_cannot_be_is_422_and_nothing_is_sent(
    service: Service,
    desk: Desk,
    operation: str,
    selector: dict[str, Any],
    place: list[str],
    kind: str,
) -> None:
    reply = await service.post(f"{INPUT}/{operation}", {"element": selector})
    if reply.status == 413:  # It has more than a body may have.
        assert len(str(selector)) > 2**20
    else:
        assert reply.faults == [(["body", "element", *place], kind)]
    await desk.link.nothing_heard()


async def test_place_and_element_are_not_both_given(service: Service, desk: Desk) -> None:
    reply = await service.post(f"{INPUT}/mouse/click", {"x": 1, "y": 2, "element": SAVE})
    assert reply.faults == [(["body", "element"], "place_and_element")]
    neither = await service.post(f"{INPUT}/mouse/move", {})
    assert [kind for _, kind in neither.faults] == ["missing", "missing"]
    await desk.link.nothing_heard()


INPUTS: list[tuple[str, dict[str, Any]]] = [
    ("mouse/click", {"element": SAVE}),
    ("mouse/move", {"element": SAVE}),
    ("mouse/scroll", {"element": SAVE, "direction": "up", "amount": 1}),
    ("mouse/drag", {"start_element": SAVE, "to_x": 1, "to_y": 2}),
    ("element/invoke", {"element": SAVE}),
    ("element/focus", {"element": SAVE}),
    ("element/set_value", {"element": SAVE, "value": "4711"}),
    ("element/set_value", {"element": SAVE, "value": 0.5}),
]


@pytest.mark.parametrize(("path", "body"), INPUTS)
async def test_element_reaches_the_machine_as_it_was_named(
    service: Service, desk: Desk, path: str, body: dict[str, Any]
) -> None:
    sends = sending(service, f"{INPUT}/{path}", body, new_key())
    command = await desk.link.obey()
    assert command.operation == path.replace("/", ".")
    assert body.items() <= command.body.items()
    reply = await sends
    assert (reply.status, reply.json["operation"]) == (200, command.operation)


@pytest.mark.parametrize(("refused", "problem"), [(MISSING, "missing"), (AMBIGUOUS, "ambiguous")])
@pytest.mark.parametrize(("path", "body"), INPUTS[:6])
async def test_element_that_is_not_one_is_409_and_every_retry_gets_the_same_bytes(
    service: Service, desk: Desk, path: str, body: dict[str, Any], refused: Refused, problem: str
) -> None:
    key = new_key()
    sends = sending(service, f"{INPUT}/{path}", body, key)
    command = await desk.link.obey(refused)
    first = await sends
    assert first.refusal == (409, f"element-{problem}")
    told = first.json
    assert (told["detail"], told["final"], told["loc"]) == (
        refused.message,
        True,
        ["body", "element"],
    )
    assert told["command_id"] == str(command.command_id)
    again = await sending(service, f"{INPUT}/{path}", body, key)
    assert (again.status, again.body) == (409, first.body)
    assert again.headers["Idempotency-Replayed"] == "true"
    other = {**body, **{field: {"name": "x"} for field in body.keys() & {"element"}}}
    if other != body:
        reused = await sending(service, f"{INPUT}/{path}", other, key)
        assert reused.faults == [(["header", "Idempotency-Key"], "idempotency_key_reused")]
    await desk.link.nothing_heard()


NAMED = [
    ("mouse/click", {"element": SAVE}, MISSING),
    ("element/invoke", {"element": SAVE}, MISSING.model_copy(update={"code": "element_cannot"})),
    (
        "element/invoke",
        {"element": SAVE},
        Failed(code="element_refused", message='The button "Save"', injected_at_least=0),
    ),
]


@pytest.mark.parametrize(("path", "body", "outcome"), NAMED)
async def test_what_became_of_it_is_told_to_who_may_see_the_screen(
    service: Service, desk: Desk, path: str, body: dict[str, Any], outcome: Outcome
) -> None:
    sends = sending(service, f"{INPUT}/{path}", body, new_key())
    command = await desk.link.obey(outcome)
    first = await sends
    blind = await service.new_token(*scopes_without(Scope.SCREEN_READ))
    for of_machine in ("", "/machines/desk-1"):
        command_path = f"/v1{of_machine}/commands/{command.command_id}"
        assert (await service.get(command_path)).json["answer"]["body"] == first.json
        refused = await service.get(command_path, token=blind)
        assert (refused.refusal, refused.json["scope"]) == ((403, "forbidden"), "screen:read")


async def test_what_this_desktop_cannot_is_422(service: Service, desk: Desk) -> None:
    sends = sending(service, f"{INPUT}/mouse/click", {"element": SAVE})
    why = MISSING.model_copy(update={"code": "elements_unavailable", "message": "on Wayland"})
    await desk.link.obey(why)
    assert (await sends).faults == [(["body", "element"], "elements_unavailable")]


async def test_program_that_does_not_say_whether_it_did_it_leaves_it_unknown(
    service: Service, desk: Desk
) -> None:
    key = new_key()
    sends = sending(service, f"{INPUT}/element/invoke", {"element": SAVE}, key)
    await desk.link.obey(Unknown(injected_at_least=1))
    first = await sends
    assert first.refusal == (502, "outcome-unknown")
    again = await sending(service, f"{INPUT}/element/invoke", {"element": SAVE}, key)
    assert again.body == first.body


CLICK = {"operation": "mouse.click", "element": SAVE}
ACTIONS = {"actions": [CLICK, {"operation": "keyboard.type", "text": "4711"}]}


async def test_actions_end_at_an_element_that_is_not_one(service: Service, desk: Desk) -> None:
    key, path = new_key(), "/v1/computer/desk-1/actions"
    sends = sending(service, path, ACTIONS, key)
    ends = (
        ActionResult(
            operation="mouse.click",
            status="not_seen",
            code="element_ambiguous",
            message="there are 2",
        ),
        ActionResult(operation="keyboard.type", status="not_begun"),
    )
    command = await desk.link.obey(Stopped(actions=ends))
    assert command.body["actions"][0]["element"] == SAVE
    first = await sends
    assert first.refusal == (409, "actions-stopped")
    assert first.json["completed"] == 0
    assert first.json["actions"] == [each.model_dump() for each in ends]
    again = await sending(service, path, ACTIONS, key)
    assert (again.status, again.body) == (409, first.body)


WITHOUT = [
    ("GET", PATH, None),
    *(("POST", f"{INPUT}/{path}", body) for path, body in INPUTS),
    ("POST", "/v1/computer/desk-1/actions", {"actions": [CLICK]}),
    (
        "POST",
        "/v1/computer/desk-1/actions",
        {"actions": [{"operation": "wait_for", "any": [{"element": SAVE}]}]},
    ),
    ("POST", "/v1/computer/desk-1/wait", {"any": [{"still": 1}, {"element": SAVE}]}),
]


@pytest.mark.parametrize(("method", "path", "body"), WITHOUT, ids=str)
async def test_machine_without_elements_says_why_and_is_sent_nothing(
    service: Service, method: str, path: str, body: Any
) -> None:
    async with service.joined(hello(no_screen=None)) as (_, link):
        reply = await service.request(method, path, body)
        assert (reply.status, reply.problem) == (501, "no-elements")
        assert "Retry-After" not in reply.headers
        assert "there is no accessibility bus" in reply.json["detail"]
        await link.nothing_heard()


async def test_machine_says_whether_it_has_elements(service: Service, desk: Desk) -> None:
    told = (await service.get("/v1/machines/desk-1")).json["elements"]
    assert told == {"available": True, "reason": None, "switched_off": False}
    other = await service.new_machine("desk-2")
    async with other.connected(hello()):
        told = (await service.get("/v1/machines/desk-2")).json["elements"]
        assert (told["available"], told["reason"]) == (False, "there is no accessibility bus")
    listed = (await service.get("/v1/machines")).json["items"]
    assert listed[0]["elements"]["available"]


async def test_wait_for_an_element_says_where_it_is(service: Service, desk: Desk) -> None:
    wait = {"any": [{"changed": True}, {"element": SAVE}], "timeout": 5}
    waits = sending(service, "/v1/computer/desk-1/wait", wait)
    look = await desk.heard(Look)
    assert look.any[1].model_dump() == {"element": SAVE, "gone": False}
    at = Region(10, 20, 80, 30)
    await desk.link.say(Seen(request=look.request, matched=1, at=at, elapsed=0.5))
    told = (await waits).json
    assert (told["matched"], told["at"]) == (1, {"x": 10, "y": 20, "width": 80, "height": 30})


async def test_reading_needs_the_scope_of_the_screen(service: Service, desk: Desk) -> None:
    without = await service.new_token(*scopes_without(Scope.SCREEN_READ))
    reply = await service.get(PATH, token=without)
    assert (reply.status, reply.json["scope"]) == (403, "screen:read")
    assert (await (await service.elsewhere()).get(PATH)).problem == "not-found"
    await desk.link.nothing_heard()


@pytest.mark.parametrize(("path", "body"), [*INPUTS, ("", {"actions": [CLICK]})], ids=str)
async def test_whoever_may_not_see_the_screen_does_not_find_out_what_it_shows(
    service: Service, desk: Desk, path: str, body: dict[str, Any]
) -> None:
    address = f"{INPUT}/{path}" if path else "/v1/computer/desk-1/actions"
    blind = await service.new_token(Scope.INPUT_SEND)
    reply = await service.post(address, body, token=blind)
    assert (reply.status, reply.json["scope"]) == (403, "screen:read")
    await desk.link.nothing_heard()


async def test_token_has_few_questions_at_once(
    service: Service, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elements, "MOST_OF_A_TOKEN", 1)
    first = asking(service)
    asked = await desk.heard(ElementsQuery)
    refused = await service.get(PATH)
    assert (refused.refusal, refused.headers["Retry-After"]) == ((429, "too-many-streams"), "1")
    other = asking(service, token=await service.new_token(Scope.SCREEN_READ))
    await tells(desk.link)
    assert (await other).status == 200
    await desk.link.say(ElementsSeen(request=asked.request, elements=[]))
    assert (await first).status == 200
    assert not service.server.services.machines.element_questions


async def test_who_read_them_is_in_the_audit_without_what_they_say(
    service: Service, desk: Desk
) -> None:
    asked = asking(service)
    await tells(desk.link, element(value="hunter2"))
    assert (await asked).status == 200
    found = await until_noted(service, bool)
    assert [(entry["action"], entry["machine_id"]) for entry in found] == [
        ("elements.read", "desk-1")
    ]
    assert "hunter2" not in str(found)


async def test_value_that_is_set_is_in_no_list_and_no_audit(service: Service, desk: Desk) -> None:
    body = {"element": SAVE, "value": "hunter2"}
    await desk.link.obeys(sending(service, f"{INPUT}/element/set_value", body, new_key()))
    database = service.server.services.operation.database
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not (items := (await service.get("/v1/audit")).json["items"]):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    assert "hunter2" not in str(items)
    for name in ("audit", "commands"):
        assert "hunter2" not in str(await database.collection(name).find({}).to_list(None))
