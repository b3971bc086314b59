"""How inputs come into the audit behind their callers' backs."""

import asyncio
import weakref
from uuid import UUID, uuid4

import pytest

from schemas.http.queries import PageQuery
from schemas.inputs.bodies import ClickMouse, TypeText, WriteClipboard
from schemas.inputs.outcomes import Completed, Failed, Outcome, Point, Unknown
from server.dispatch.command import Sender
from server.dispatch.hand.segment import Segment
from server.dispatch.recorder import InputRecorder, command_item, entry_id
from server.errors import StoreError, StoreUnavailable
from server.store.audit import AuditEntry, AuditStore
from tests.commands import accepted, keep_sent, recorded
from tests.events import listening
from tests.links import COMPLETED, hello
from tests.service import PATIENCE_SECONDS, ScriptedMachine, Service, new_key, until


async def audited(service: Service, count: int) -> list[AuditEntry]:
    """The inputs of the organization in the audit, once there are so many."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            found, total = await service.server.services.audit.commands(
                service.organization_id, "desk-1", PageQuery()
            )
            if total >= count:
                assert total == count
                return found
            await asyncio.sleep(0.02)


async def until_written(service: Service) -> None:
    """Wait until nothing waits to be written."""
    recorder = service.server.services.operation.recorder
    await until(lambda: recorder.waiting == 0)


@pytest.mark.parametrize("key", [None, "a-key"])
async def test_input_is_recorded_with_who_what_and_how(service: Service, key: str | None) -> None:
    async with service.joined() as (machine, link):
        sending = machine.moving(key)
        await link.obey()
        answer = (await sending).json
        (entry,) = await audited(service, 1)
    item = command_item(entry)
    assert item is not None
    shown = item.model_dump(mode="json")
    assert shown["command_id"] == answer["command_id"]
    assert shown["accepted_at"] == answer["accepted_at"]
    assert (shown["operation"], shown["outcome"]) == ("mouse.move", "completed")
    assert shown["code"] is None
    assert (shown["token_name"], shown["duration_ms"]) == ("administrator", 1.5)
    assert entry.action == "input.mouse.move"
    assert entry.input is not None
    assert entry.input.completed_at is not None
    assert entry.input.completed_at >= entry.created_at


@pytest.mark.parametrize("key", [None, "a-key"])
async def test_failed_input_is_recorded_with_the_machines_code(
    service: Service, machine: ScriptedMachine, key: str | None
) -> None:
    async with machine.connected() as link:
        sending = machine.moving(key)
        await link.obey(Failed(code="no_desktop", message="secret", injected_at_least=0))
        await sending
        (entry,) = await audited(service, 1)
    assert entry.input is not None
    assert (entry.input.outcome, entry.input.code) == ("failed", "no_desktop")
    assert "secret" not in repr(entry)


async def test_retry_that_gets_the_first_answer_is_no_second_input(service: Service) -> None:
    machine, key = await service.new_machine(), new_key()
    async with machine.connected() as link:
        sending = machine.moving(key)
        await link.obey()
        await sending
        assert (await machine.move(key)).headers["Idempotency-Replayed"] == "true"
        await until_written(service)
        await audited(service, 1)


async def test_input_that_was_never_sent_is_not_recorded(service: Service) -> None:
    machine = await service.new_machine()
    assert (await machine.move()).problem == "machine-unavailable"
    assert (await machine.move(new_key())).problem == "machine-unavailable"
    await until_written(service)
    await audited(service, 0)


@pytest.mark.parametrize("key", [None, "a-key"])
async def test_input_is_pending_until_the_machine_comes_back(
    service: Service, machine: ScriptedMachine, key: str | None
) -> None:
    async with machine.connected() as link:
        sending = machine.moving(key)
        command = await link.next_message()
    assert (await sending).problem == "outcome-pending"
    (entry,) = await audited(service, 1)
    assert entry.input is not None
    assert (entry.input.outcome, entry.input.completed_at) == ("pending", None)
    greeting = hello(sequence=link.sequence + 1)
    async with machine.connected(greeting, wait_until_live=False) as link:
        question = await link.next_message()
        assert question.command_id == command.command_id  # type: ignore[union-attr]
        await link.report(question.command_id, COMPLETED)  # type: ignore[union-attr]
        await machine.until_live()
        await until_written(service)
    (ended,) = await audited(service, 1)
    assert ended.input is not None
    assert (ended.id, ended.input.outcome) == (entry.id, "completed")
    assert ended.token_name == "administrator"


async def test_input_of_a_server_that_died_is_recorded_when_it_is_settled(
    service: Service, machine: ScriptedMachine
) -> None:
    token_id = uuid4()
    command = accepted(service, new_key(), token_id=token_id, token_name="of the dead")
    await keep_sent(service, command, token_id=token_id, token_name="of the dead")
    async with machine.connected(wait_until_live=False) as link:
        question = await link.next_message()
        await link.report(question.command_id, COMPLETED)  # type: ignore[union-attr]
        (entry,) = await audited(service, 1)
    record = await recorded(service, command.id)
    assert entry.id == entry_id(command.id, record.accepted_at)
    assert (entry.token_id, entry.token_name) == (token_id, "of the dead")


async def test_place_is_told_of_the_mouses_completed_inputs_alone(service: Service) -> None:
    services = service.server.services
    recorder = InputRecorder(services.audit, services.events, services.operation.metrics)
    running = services.background.start(recorder.run(), "record inputs")
    await service.new_machine()
    async with listening(service, "?types=command") as stream:
        for body, outcome, place in (
            (ClickMouse(), COMPLETED, {"x": 3, "y": 4}),
            (ClickMouse(), Unknown(), None),
            (TypeText(text="a"), COMPLETED, None),
        ):
            recorder.ended(accepted(service, body=body), outcome)
            assert (await stream.next()).data["pointer"] == place
    await recorder.close(5.0, running)


async def test_recorded_inputs_are_told_and_counted(service: Service) -> None:
    machine = await service.new_machine()
    async with machine.connected() as link, listening(service, "?types=command") as stream:
        sending = machine.moving()
        await link.obey()
        answer = (await sending).json
        told = (await stream.next()).data
        assert (told["machine_id"], told["command_id"]) == ("desk-1", answer["command_id"])
        assert told["pointer"] == answer["pointer"]
        shown = (await service.get("/v1/machines/desk-1")).json
        assert shown["inputs"] == {"completed": 1, "failed": 0}
        assert shown["last_input_at"] == told["accepted_at"]


@pytest.mark.parametrize(("keys", "outcome"), [(3, "completed"), (0, "failed")])
async def test_stretch_of_work_by_hand_is_told_listed_and_counted(
    service: Service, keys: int, outcome: str
) -> None:
    await service.new_machine()
    sender = Sender(
        organization_id=service.organization_id,
        token_id=uuid4(),
        token_name="Anna",
        request_id="r",
        in_segment=True,
    )
    stretches = service.server.services.machines.stretches
    segment = Segment(refused=1)
    async with listening(service, "?types=command,audit") as stream:
        stretch = stretches.begin(
            *(sender, "desk-1", "control.worked", segment.in_words), became=segment.became
        )
        begun = (await stream.next()).data
        assert (begun["operation"], begun["outcome"]) == ("hand", "pending")
        assert "1 refused so far" in begun["note"]
        shown = (await service.get("/v1/machines/desk-1")).json
        assert shown["inputs"] == {"completed": 0, "failed": 0}
        segment.keys = keys
        stretches.end(stretch)
        told = (await stream.next()).data
    assert (told["command_id"], told["outcome"]) == (begun["command_id"], outcome)
    assert (told["token_name"], told["inputs"], told["pointer"]) == ("Anna", keys, None)
    assert "so far" not in told["note"]
    (entry,) = await audited(service, 1)
    assert entry.id == UUID(told["command_id"]).bytes
    assert (entry.target, entry.note) == ("desk-1", told["note"])
    shown = (await service.get("/v1/machines/desk-1")).json
    assert shown["inputs"] == {"completed": keys, "failed": 0}
    assert shown["last_input_at"] == told["accepted_at"]


async def noted(service: Service, recorder: InputRecorder, *outcomes: Outcome) -> None:
    """Note commands that ended so."""
    for outcome in outcomes:
        recorder.ended(accepted(service), outcome)


def alone(service: Service, capacity: int = 10) -> InputRecorder:
    """A recorder of the test's own."""
    services = service.server.services
    return InputRecorder(
        services.audit, services.events, services.operation.metrics, capacity=capacity
    )


async def test_no_further_input_is_taken_when_the_queue_is_full(service: Service) -> None:
    recorder = alone(service, 2)
    recorder.check_room()
    await noted(service, recorder, COMPLETED, Unknown())
    with pytest.raises(StoreUnavailable):
        recorder.check_room()
    running = service.server.services.background.start(recorder.run(), "a recorder")
    await until(lambda: recorder.waiting == 0)
    recorder.check_room()
    await recorder.close(5, running)


@pytest.mark.parametrize("outcome", [COMPLETED, None])
async def test_text_that_was_to_be_copied_does_not_wait_to_be_recorded(
    service: Service, outcome: Outcome | None
) -> None:
    recorder = alone(service)
    text = weakref.ref(body := WriteClipboard(text="secret"))
    if outcome is None:
        recorder.left_open(accepted(service, body=body))
    else:
        recorder.ended(accepted(service, body=body), outcome)
    del body
    assert (recorder.waiting, text()) == (1, None)


async def test_full_queue_is_answered_503_and_nothing_is_sent(
    service: Service, machine: ScriptedMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service.server.services.operation.recorder, "_capacity", 0)
    async with machine.connected() as link:
        assert (await machine.move()).refusal == (503, "storage-unavailable")
        await link.nothing_heard()


async def test_closing_writes_what_is_left(service: Service) -> None:
    await service.new_machine()
    recorder = alone(service)
    running = service.server.services.background.start(recorder.run(), "a recorder")
    await noted(service, recorder, COMPLETED, Completed(duration_ms=2, pointer=Point(x=0, y=0)))
    await recorder.close(10, running)
    assert recorder.waiting == 0
    assert len(await audited(service, 2)) == 2


async def test_writing_is_tried_again_until_the_database_answers(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, failures = AuditStore.add_inputs, iter(range(3))

    async def add_inputs(store: AuditStore, entries: list[AuditEntry]) -> None:
        await real(store, entries)
        if next(failures, None) is not None:
            raise StoreUnavailable("The database does not answer.")

    monkeypatch.setattr(AuditStore, "add_inputs", add_inputs)
    await service.new_machine()
    recorder = alone(service)
    running = service.server.services.background.start(recorder.run(), "a recorder")
    await noted(service, recorder, COMPLETED)
    await recorder.close(10, running)
    assert await audited(service, 1)
    assert (await service.get("/v1/machines/desk-1")).json["inputs"]["completed"] == 1


async def test_what_the_database_refuses_for_good_does_not_stop_the_rest(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, failures = AuditStore.add_inputs, iter(range(1))

    async def add_inputs(store: AuditStore, entries: list[AuditEntry]) -> None:
        if next(failures, None) is not None:
            raise StoreError("The database refused.")
        await real(store, entries)

    monkeypatch.setattr(AuditStore, "add_inputs", add_inputs)
    recorder = alone(service)
    running = service.server.services.background.start(recorder.run(), "a recorder")
    await noted(service, recorder, COMPLETED, COMPLETED)
    await until(lambda: recorder.lost == 2)
    await noted(service, recorder, COMPLETED)
    await recorder.close(10, running)
    assert await audited(service, 1)
