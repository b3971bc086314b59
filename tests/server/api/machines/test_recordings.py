"""Recordings over HTTP, with a machine that the test plays."""

import logging
from typing import Any
from uuid import uuid4

import pytest

from schemas.inputs.outcomes import ActionResult, Completed, Failed, Point, Stopped
from schemas.link.messages import Input
from schemas.resources.tokens import Scope
from schemas.steps.step import Step
from server.dispatch.recording import surroundings
from server.dispatch.recording.drafts import HELD
from server.dispatch.recording.writing import RecordingWriter
from tests.desktop_states import SMALL, YES, desktop
from tests.events import listening
from tests.links import hello
from tests.server.fleet.test_reach import bound, put
from tests.service import Reply, ScriptedLink, ScriptedMachine, Service, new_key
from tests.waiting import until, waited

COPYING = hello().model_copy(update={"clipboard_write": YES})
TELLING = hello().model_copy(update={"elements": YES})
RECORDINGS = "/v1/machines/desk-1/recordings"


async def begun(service: Service, token: str = "", **body: Any) -> Any:
    """Begin a recording of the machine; what is answered."""
    reply = await service.post(RECORDINGS, body, token=token)
    assert reply.status == 201, reply.body
    return reply.json


async def stopped(service: Service, recording: Any) -> Any:
    """Stop a recording; what is answered."""
    reply = await service.post(f"/v1/recordings/{recording['id']}/stop")
    assert reply.status == 200, reply.body
    return reply.json


async def steps_of(service: Service, recording: Any) -> list[dict[str, Any]]:
    """The steps that a recording's trajectory has, each of which Farhand understands."""
    reply = await service.get(f"/v1/trajectories/{recording['trajectory_id']}")
    assert reply.status == 200, reply.body
    steps: list[dict[str, Any]] = reply.json["trajectory_data"]
    for step in steps:
        Step.model_validate(step)
    return steps


def done(steps: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """What the steps do."""
    return [(step["operation"], step["body"]) for step in steps]


def sending(service: Service, path: str, body: Any, **options: Any) -> Any:
    """An input in the background."""
    background = service.server.services.background
    return background.start(service.post(path, body, **options), "a client of the test")


async def sent(
    machine: ScriptedMachine, link: ScriptedLink, operation: str, body: Any, **options: Any
) -> Reply:
    """Send an input, which the machine carries out."""
    task = sending(machine.service, machine.input_path(operation), body, **options)
    reply = await link.reply_to(task)
    assert reply.status == 200, reply.body
    return reply


async def test_inputs_become_steps_of_a_trajectory_that_is_generated_at_the_end(
    service: Service,
) -> None:
    async with service.joined() as (machine, link):
        await sent(machine, link, "mouse/move", {"x": 1, "y": 1})
        recording = await begun(service, name="Invoice")
        assert recording["state"] == "recording"
        assert recording["of"] == "everybody"
        clicked = await sent(machine, link, "mouse/click", {"x": 5, "y": 6, "clicks": 2})
        await sent(machine, link, "keyboard/key", {"text": "ctrl+a tab"})
        ended = await stopped(service, recording)
        await sent(machine, link, "mouse/move", {"x": 1, "y": 1})
    assert (ended["state"], ended["why_stopped"], ended["steps"]) == ("stopped", "asked", 2)
    steps = await steps_of(service, recording)
    assert done(steps) == [
        ("mouse.click", {"x": 5, "y": 6, "clicks": 2}),
        ("keyboard.key", {"text": "ctrl+a tab"}),
    ]
    assert steps[0]["command_id"] == clicked.json["command_id"]
    assert steps[0]["by"]["token_name"] == "administrator"
    assert steps[0]["by"]["through"] == "api"
    assert steps[0]["picture"] is None
    trajectory = (await service.get(f"/v1/trajectories/{recording['trajectory_id']}")).json
    assert trajectory["is_generated"]
    assert trajectory["name"] == "Invoice"
    assert trajectory["workflow_id"] == recording["workflow_id"]
    workflow = (await service.get(f"/v1/workflows/{recording['workflow_id']}")).json
    assert workflow["name"] == "Invoice"


async def test_several_actions_become_a_step_each_and_what_was_not_done_none(
    service: Service,
) -> None:
    actions = [
        {"operation": "mouse.click", "x": 1, "y": 2},
        {"operation": "wait", "seconds": 0.5},
        {"operation": "keyboard.key", "text": "enter"},
        {"operation": "mouse.move", "x": 3, "y": 4},
    ]
    results = [
        ActionResult(operation="mouse.click", status="completed", duration_ms=4.0),
        ActionResult(operation="wait", status="completed", duration_ms=500.0),
        ActionResult(operation="keyboard.key", status="completed", duration_ms=3.0),
        ActionResult(operation="mouse.move", status="not_begun"),
    ]
    async with service.joined() as (machine, link):
        recording = await begun(service)
        key = new_key()
        acting = machine.acting(actions, key)
        await link.obey(Stopped(actions=tuple(results)))
        assert (await acting).status == 409
        assert (await machine.act(actions, key)).status == 409
        await stopped(service, recording)
    steps = await steps_of(service, recording)
    assert done(steps) == [("mouse.click", {"x": 1, "y": 2}), ("keyboard.key", {"text": "enter"})]
    assert [step["by"]["through"] for step in steps] == ["actions", "actions"]
    assert 490 <= steps[1]["after_ms"] <= 510


async def test_what_was_not_completed_is_marked_where_something_may_have_happened(
    service: Service,
) -> None:
    half = Failed(code="interrupted", message="cut short", injected_at_least=2)
    none = Failed(code="interrupted", message="cut short", injected_at_least=0)
    batch = Failed(
        code="interrupted",
        message="cut short",
        injected_at_least=3,
        actions=(
            ActionResult(operation="mouse.move", status="completed", duration_ms=1.0),
            ActionResult(operation="mouse.move", status="interrupted", duration_ms=1.0),
        ),
    )
    move = {"operation": "mouse.move", "x": 3, "y": 4}
    async with service.joined() as (machine, link):
        recording = await begun(service)
        for outcome in (half, none):
            moving = machine.moving()
            await link.obey(outcome)
            assert (await moving).status == 502
        acting = machine.acting([move, move], new_key())
        await link.obey(batch)
        assert (await acting).status == 502
        ended = await stopped(service, recording)
    steps = await steps_of(service, recording)
    assert [step["operation"] for step in steps] == ["gap", "mouse.move", "gap"]
    assert ended["gaps"] == 2


async def test_replay_is_no_second_step_and_one_that_was_missed_is_made_up(
    service: Service,
) -> None:
    before, within = new_key(), new_key()
    async with service.joined() as (machine, link):
        await link.reply_to(machine.moving(before, x=1))
        recording = await begun(service)
        await link.reply_to(machine.moving(within, x=2))
        for key, x in ((before, 1), (within, 2), (within, 2)):
            assert "Idempotency-Replayed" in (await machine.move(key, x=x)).headers
        await stopped(service, recording)
    assert done(await steps_of(service, recording)) == [("mouse.move", {"x": 2, "y": 4})]


async def test_value_of_an_element_is_a_text_like_any_other(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The machine is asked for nothing but the input, however long that takes.
    monkeypatch.setattr(surroundings, "QUIET_SECONDS", 3600.0)
    body = {"element": {"role": "entry", "name": "Order"}, "value": f"canary{uuid4().hex}"}
    async with service.joined(TELLING) as (machine, link):
        recording = await begun(service)
        kept = await begun(service, keep_texts=True)
        await sent(machine, link, "element/set_value", body)
        await stopped(service, recording)
        await stopped(service, kept)
    (step,) = await steps_of(service, recording)
    assert (step["secret"], step["body"]) == ("secret_1", {"element": body["element"]})
    assert done(await steps_of(service, kept)) == [("element.set_value", body)]


async def test_no_text_is_kept_unless_that_was_said(service: Service) -> None:
    canary = f"canary{uuid4().hex}"
    spelled = " ".join(canary)
    typing = {"operation": "keyboard.type", "text": canary}
    copying = {"operation": "clipboard.write", "text": canary}
    results = tuple(
        ActionResult(operation=each, status="completed", duration_ms=1.0)
        for each in ("keyboard.type", "clipboard.write")
    )
    async with service.joined(COPYING) as (machine, link), listening(service) as told:
        recording = await begun(service)
        kept = await begun(service, keep_texts=True)
        await sent(machine, link, "keyboard/type", {"text": canary})
        await sent(machine, link, "keyboard/key", {"text": f"{spelled} enter"})
        await sent(machine, link, "keyboard/key", {"text": spelled, "repeat": 2})
        acting = machine.acting([typing, copying], new_key())
        await link.obey(Completed(duration_ms=2, pointer=Point(x=1, y=1), actions=results))
        assert (await acting).status == 200
        assert (await stopped(service, recording))["secrets"] == 4
        await stopped(service, kept)
        await told.until(lambda event: event.data.get("id") == kept["id"])
    assert done(await steps_of(service, recording)) == [
        ("keyboard.type", {}),
        ("keyboard.type", {}),
        ("keyboard.key", {"text": "enter"}),
        ("gap", {"reason": HELD}),
        ("keyboard.type", {}),
        ("clipboard.write", {}),
    ]
    names = [step.get("secret") for step in await steps_of(service, recording)]
    assert names == ["secret_1", "secret_2", None, None, "secret_3", "secret_4"]
    assert done(await steps_of(service, kept)) == [
        ("keyboard.type", {"text": canary}),
        ("keyboard.key", {"text": f"{spelled} enter"}),
        ("keyboard.key", {"text": spelled, "repeat": 2}),
        ("keyboard.type", {"text": canary}),
        # What was copied never is.
        ("clipboard.write", {}),
    ]


async def test_recording_of_ones_own_takes_no_others_inputs(service: Service) -> None:
    scopes = (Scope.INPUT_SEND, Scope.RECORDINGS_WRITE, Scope.SCREEN_READ)
    mine, other = await service.new_token(*scopes), await service.new_token(*scopes)
    async with service.joined() as (machine, link):
        first = await begun(service, mine, of="me")
        second = await begun(service, mine, of="me")
        all_of_it = await begun(service)
        await sent(machine, link, "mouse/move", {"x": 1, "y": 1}, token=other)
        await sent(machine, link, "mouse/move", {"x": 2, "y": 2}, token=mine)
        named = {"Farhand-Recording": second["id"]}
        await sent(machine, link, "mouse/move", {"x": 3, "y": 3}, token=mine, headers=named)
        for token, name in ((other, second["id"]), (mine, str(uuid4())), (mine, all_of_it["id"])):
            refused = await machine.move(token=token, headers={"Farhand-Recording": name})
            assert refused.refusal == (409, "recording-ended")
        wrong = await machine.move(token=mine, headers={"Farhand-Recording": "it"})
        assert wrong.faults == [(["header", "Farhand-Recording"], "uuid_parsing")]
        for each in (first, second, all_of_it):
            await stopped(service, each)
        late = await machine.move(token=mine, headers=named)
        assert late.refusal == (409, "recording-ended")
    own = [
        [step["body"]["x"] for step in await steps_of(service, each)]
        for each in (first, second, all_of_it)
    ]
    assert own == [[2], [2, 3], [1, 2, 3]]


async def test_everybody_sees_that_a_machine_is_recorded_and_by_whom(service: Service) -> None:
    query = "?types=machine,recording"
    async with service.joined() as (machine, link), listening(service, query) as told:
        recording = await begun(service)
        seen = (await service.get("/v1/machines/desk-1")).json["recordings"]
        assert [(each["id"], each["by"], each["of"]) for each in seen] == [
            (recording["id"], "administrator", "everybody")
        ]
        await told.until(lambda event: event.data.get("recordings") == seen)
        await sent(machine, link, "mouse/move", {"x": 1, "y": 1})
        event = await told.until(lambda event: event.type == "recording" and event.data["steps"])
        assert event.data["id"] == recording["id"]
        await stopped(service, recording)
        await told.until(lambda event: event.data.get("recordings") == [])
        assert (await service.get("/v1/machines/desk-1")).json["recordings"] == []
    for action in ("recording.started", "recording.stopped"):
        (kept,) = (await service.get(f"/v1/audit?action={action}")).json["items"]
        assert (kept["target"], kept["machine_id"]) == (recording["id"], "desk-1")


async def test_recording_that_begins_while_secret_is_on_keeps_no_secret(service: Service) -> None:
    async with service.joined() as (machine, link):
        first = await begun(service)
        path = f"/v1/recordings/{first['id']}/secret"
        for on in (True, True):
            await service.post(path, {"on": on})
        second = await begun(service, keep_texts=True)
        assert second["secret"] is True
        await sent(machine, link, "keyboard/type", {"text": "hunter2"})
        await service.post(path, {"on": False})
        # Of the other one it is said until somebody says otherwise of that, too.
        await sent(machine, link, "keyboard/type", {"text": "hunter3"})
        await stopped(service, second)
    assert ["text" in step["body"] for step in await steps_of(service, second)] == [False, False]
    for action in ("recording.secret_on", "recording.secret_off"):
        (kept,) = (await service.get(f"/v1/audit?action={action}")).json["items"]
        assert (kept["target"], kept["machine_id"]) == (first["id"], "desk-1")


async def test_secret_that_the_machines_node_does_not_confirm_is_in_the_audit(
    service: Service,
) -> None:
    async with service.joined() as (machine, _):
        recording = await begun(service)
    await machine.until_gone()
    path = f"/v1/recordings/{recording['id']}/secret"
    assert (await service.post(path, {"on": True})).refusal == (503, "machine-unavailable")
    (kept,) = (await service.get("/v1/audit?action=recording.secret_on")).json["items"]
    assert kept["target"] == recording["id"]


async def test_bad_beginnings_have_their_words(service: Service) -> None:
    machine = await service.new_machine()
    offline = await service.post(RECORDINGS, {})
    assert offline.refusal == (503, "machine-unavailable")
    assert (await service.post("/v1/machines/other/recordings", {})).refusal == (404, "not-found")
    blind = await service.new_token(Scope.RECORDINGS_WRITE)
    async with machine.connected():
        assert (await service.post(RECORDINGS, {}, token=blind)).refusal == (403, "forbidden")
        unknown = await service.post(RECORDINGS, {"workflow_id": str(uuid4())})
        assert unknown.faults == [(["body", "workflow_id"], "workflow_unknown")]
        for _ in range(4):
            await begun(service)
        fifth = await service.post(RECORDINGS, {})
        assert fifth.refusal == (409, "wrong-state")
        assert "administrator, administrator" in fifth.json["detail"]
        listed = (await service.get("/v1/recordings?state=recording&machine_id=desk-1")).json
        assert listed["total"] == 4
        for each in listed["items"]:
            await stopped(service, each)
        assert (await service.get("/v1/recordings?state=recording")).json["total"] == 0
    assert (await service.get("/v1/trajectories?is_generated=null")).json["total"] == 4


async def test_a_recording_goes_on_with_the_machines_next_link(service: Service) -> None:
    machine = await service.new_machine()
    async with machine.connected() as link:
        recording = await begun(service)
        await sent(machine, link, "mouse/move", {"x": 1, "y": 1})
    await machine.until_gone()
    async with machine.connected() as link:
        await sent(machine, link, "mouse/move", {"x": 2, "y": 2})
        ended = await stopped(service, recording)
    assert [step["body"].get("x") for step in await steps_of(service, recording)] == [1, 2]
    assert ended["gaps"] == 0


async def test_what_is_under_way_when_the_link_ends_is_a_gap(service: Service) -> None:
    machine = await service.new_machine()
    async with machine.connected() as link:
        recording = await begun(service)
        moving = machine.moving()
        await link.heard(Input)
    assert (await moving).status == 504
    await machine.until_gone()
    ended = await stopped(service, recording)
    assert (ended["steps"], ended["gaps"]) == (1, 1)


async def test_recording_ends_with_its_machine_its_token_and_its_trajectory(
    service: Service,
) -> None:
    machine = await service.new_machine()
    made = (
        await service.post(
            "/v1/tokens", {"name": "r", "scopes": ["recordings:write", "screen:read"]}
        )
    ).json
    async with machine.connected() as link:
        of_token = await begun(service, made["token"])
        of_trajectory, of_machine = await begun(service), await begun(service)
        assert (await service.request("DELETE", f"/v1/tokens/{made['id']}")).status == 204
        path = f"/v1/trajectories/{of_trajectory['trajectory_id']}"
        assert (await service.request("DELETE", path)).status == 204
        await sent(machine, link, "mouse/move", {"x": 1, "y": 1})
        await until_stopped(service, of_token, "token")
        await until_stopped(service, of_trajectory, "trajectory")
        assert (await service.request("DELETE", "/v1/machines/desk-1")).status == 204
        await until_stopped(service, of_machine, "machine")
    assert len(await steps_of(service, of_machine)) == 1


async def until_stopped(service: Service, recording: Any, why: str) -> None:
    """Wait until a recording has ended by itself."""

    async def ended() -> bool | None:
        found = (await service.get(f"/v1/recordings/{recording['id']}")).json
        return found["why_stopped"] == why or None

    await waited(ended)


async def test_desktop_of_another_size_is_marked(service: Service) -> None:
    async with service.joined() as (machine, link):
        recording = await begun(service)
        await sent(machine, link, "mouse/move", {"x": 1, "y": 1})
        await link.say(desktop(displays=[SMALL]))
        end = machine.service.link_of("desk-1")
        assert end is not None
        await until(lambda: end.desktop.displays[0].width == 800)
        await sent(machine, link, "mouse/move", {"x": 2, "y": 2})
        await stopped(service, recording)
    operations = [step["operation"] for step in await steps_of(service, recording)]
    assert operations == ["mouse.move", "gap", "mouse.move"]


async def test_tokens_of_pools_see_the_recordings_of_their_machines_alone(
    service: Service,
) -> None:
    pool, token = await bound(service)
    async with service.joined():
        recording = await begun(service)
        path = f"/v1/recordings/{recording['id']}"
        trajectory = f"/v1/trajectories/{recording['trajectory_id']}"
        assert (await service.get(trajectory, token=token)).status == 404
        assert (await service.get("/v1/recordings", token=token)).json["total"] == 0
        assert (await service.get(path, token=token)).status == 404
        assert (await service.post(f"{path}/stop", token=token)).status == 404
        assert (await service.post(RECORDINGS, {}, token=token)).status == 404
        await put(service, "desk-1", pool)
        assert (await service.get("/v1/recordings", token=token)).json["total"] == 1
        assert (await service.get(trajectory, token=token)).status == 200
        assert (await service.post(f"{path}/stop", token=token)).status == 200


async def test_recording_ends_where_its_machine_leaves_the_pools_of_its_token(
    service: Service,
) -> None:
    pool_id, token = await bound(service)
    async with service.joined() as (machine, link):
        await put(service, "desk-1", pool_id)
        of_pool, of_all = await begun(service, token), await begun(service)
        await sent(machine, link, "mouse/move", {"x": 1, "y": 1})
        await put(service, "desk-1", pool_id, out=True)
        await until_stopped(service, of_pool, "pools")
        await sent(machine, link, "mouse/move", {"x": 2, "y": 2})
        await stopped(service, of_all)
    assert [len(await steps_of(service, each)) for each in (of_pool, of_all)] == [1, 2]


async def test_nobody_approves_alone_what_was_recorded_of_them(service: Service) -> None:
    scopes = (Scope.INPUT_SEND, Scope.TRAJECTORIES_READ, Scope.TRAJECTORIES_APPROVE)
    reviewer = await service.new_token(*scopes)
    user = await service.new_token(*scopes, Scope.TOKENS_WRITE, user_id=uuid4())
    new = {"name": "of nobody else", "scopes": [each.value for each in scopes]}
    worker = (await service.post("/v1/tokens", new, token=user)).json["token"]
    async with service.joined() as (machine, link):
        recording = await begun(service)
        await sent(machine, link, "mouse/move", {"x": 1, "y": 1}, token=worker)
        await stopped(service, recording)
    path = f"/v1/trajectories/{recording['trajectory_id']}"
    seen = (await service.get(path)).json["content_hash"]
    approval = {"decision": "approve", "content_hash": seen}
    for author in (service.token, worker, user):
        refused = await service.post(f"{path}/review", approval, token=author)
        assert refused.refusal == (403, "forbidden")
        assert "you made it" in refused.json["detail"]
    approved = await service.post(f"{path}/review", approval, token=reviewer)
    assert approved.status == 200, approved.body


async def test_what_was_typed_is_in_no_store_log_or_event(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    canary = f"canary{uuid4().hex}"
    async with service.joined(COPYING) as (machine, link), listening(service) as told:
        recording = await begun(service, name="Sign in")
        for operation, text in (
            ("keyboard/type", canary),
            ("keyboard/key", " ".join(canary)),
            ("keyboard/key", f"ctrl+a {' '.join(canary)} enter"),
        ):
            headers = {"Idempotency-Key": new_key()}
            await sent(machine, link, operation, {"text": text}, headers=headers)
        path = f"/v1/computer/{machine.machine_id}/clipboard"
        putting = service.server.services.background.start(
            service.request("PUT", path, {"text": canary}), "a client of the test"
        )
        assert (await link.reply_to(putting)).status == 200
        # While it runs, what is under way is stored as well.
        assert await holding(service, canary) == []
        await stopped(service, recording)
        seen = [await told.next()]
        while seen[-1].type != "recording" or seen[-1].data["state"] != "stopped":
            seen.append(await told.next())
    assert await holding(service, canary) == []
    assert not [event for event in seen if canary in str(event.data)]
    said = [message for message in caplog.messages if canary in message]
    assert not said
    assert [step.get("secret") for step in await steps_of(service, recording)] == [
        *("secret_1", "secret_2", None, "secret_3", None, "secret_4"),
    ]


async def holding(service: Service, text: str) -> list[str]:
    """The collections of the server's database in which a text is, also spelled key by key."""
    database = service.server.services.operation.database._database
    found = []
    for name in await database.list_collection_names():
        documents = [str(each) async for each in database.get_collection(name).find()]
        if any(text in each or " ".join(text) in each for each in documents):
            found.append(name)
    return found


@pytest.mark.own_server
async def test_recording_that_cannot_be_written_ends_and_says_so(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any, **__: Any) -> Any:
        raise ValueError("a mistake")

    async with service.joined() as (machine, link):
        recording = await begun(service)
        monkeypatch.setattr(RecordingWriter, "append", broken)
        await sent(machine, link, "mouse/move", {"x": 1, "y": 1})
        await until_stopped(service, recording, "failed")
        # Inputs go on.
        await sent(machine, link, "mouse/move", {"x": 2, "y": 2})
