"""From the hello to a live link, on real websockets: what may happen when, and what not yet."""

import asyncio
from uuid import UUID

import pytest

from schemas.inputs.outcomes import NotCarriedOut
from schemas.link.close_codes import CloseCode
from schemas.link.messages import Heartbeat, Input, Interrupt, Ready, Resolve, Welcome
from server.dispatch.ledger import reconciler
from server.errors import StoreUnavailable
from server.machines.admission import Admission
from server.machines.link.greeting import GREETING_SECONDS
from server.machines.socket import LinkSocket
from server.store.commands import CommandState
from server.store.machines.documents import ClientSummary, LinkFacts, Machine
from server.store.machines.machines import MachineStore
from tests.commands import accepted, answer_within, keep_sent, kept_as_sent, recorded
from tests.links import hello, let_time_pass
from tests.service import (
    PATIENCE_SECONDS,
    ScriptedLink,
    ScriptedMachine,
    Service,
    new_key,
    until,
)


async def test_no_input_is_taken_before_the_journal_is_marked(machine: ScriptedMachine) -> None:
    async with machine.opened() as link:
        for step in (hello(), Ready()):
            await link.say(step)
            if not isinstance(step, Ready):
                await link.heard(Welcome)
            for key in (new_key(), None):
                assert (await machine.move(key)).refusal == (503, "machine-unavailable")
        # The heartbeat that asks for the mark is all that was said.
        Heartbeat.model_validate_json(await link.websocket.recv())
        await link.nothing_heard()


@pytest.mark.parametrize("settings", [{"token_check": 0.05}])
@pytest.mark.parametrize("steps", [0, 1, 2], ids=["no hello", "no ready", "no mark"])
async def test_client_that_stops_greeting_is_sent_away_to_come_back(
    service: Service, steps: int
) -> None:
    machine, registry = await service.new_machine(), service.server.services.machines.registry
    async with machine.opened() as link:
        await until(lambda: list(registry))
        for step in (hello(), Ready())[:steps]:
            await link.say(step)
            if isinstance(step, Ready):
                # It is asked for the mark, which never comes.
                Heartbeat.model_validate_json(await link.websocket.recv())
            else:
                await link.heard(Welcome)
        (greeting,) = registry
        let_time_pass(greeting, GREETING_SECONDS)
        code, reason = await link.closed()
        assert code == CloseCode.GREETING_MISSED
        assert not CloseCode(code).says_stop
        assert f"{GREETING_SECONDS:g} s" in reason


async def test_reports_may_come_in_any_order_and_each_counts_for_its_own(service: Service) -> None:
    machine = await service.new_machine()
    commands = [accepted(service, new_key()) for _ in range(20)]
    for command in commands:
        await keep_sent(service, command)
    async with machine.connected(wait_until_live=False) as link:
        asked = [(await link.heard(Resolve)).command_id for _ in commands]
        assert sorted(asked) == sorted(command.id for command in commands)
        for command_id in reversed(asked):
            await link.report(command_id, NotCarriedOut())
        await machine.until_live()
    for command in commands:
        assert (await recorded(service, command.id)).state is CommandState.NOT_CARRIED_OUT


async def test_word_that_a_command_still_runs_is_a_word_in_time(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconciler, "REPORT_SECONDS", 20.0)
    machine = await service.new_machine()
    command = await kept_as_sent(service, new_key())
    async with machine.connected(wait_until_live=False) as link:
        await link.heard(Resolve)
        await link.report(command.id, None)
        live = await machine.until_live()
        # New inputs go out behind it, however long it takes.
        await link.obeys(machine.moving(new_key()))
        assert not live.is_over
        await link.acknowledge(command.id)
        await until(lambda: not service.server.services.machines.dispatcher._ledger._under_way)
        assert (await recorded(service, command.id)).state is CommandState.DONE


async def test_link_that_goes_while_it_is_asked_is_asked_again_by_the_next(
    service: Service, machine: ScriptedMachine
) -> None:
    command = await kept_as_sent(service, new_key())
    async with machine.connected(wait_until_live=False) as link:
        await link.heard(Resolve)
    await machine.until_gone()
    assert (await recorded(service, command.id)).state is CommandState.SENT
    async with machine.connected(hello(sequence=1), wait_until_live=False) as link:
        await link.heard(Resolve)
        await link.report(command.id, NotCarriedOut())
        await machine.until_live()


async def test_old_copy_of_the_journal_is_known_however_often_the_link_is_cut(
    service: Service, machine: ScriptedMachine
) -> None:
    """Each try that fails before it is judged leaves the journal's number as it was."""
    command = accepted(service, new_key())
    await keep_sent(service, command, journal_sequence=3)
    for _ in range(4):
        async with machine.open_websocket() as websocket:
            link = ScriptedLink(websocket, 1)
            await link.say(hello(sequence=1))
            await link.heard(Welcome)
            assert link.sequence == 1
    assert (await recorded(service, command.id)).state is CommandState.SENT
    async with machine.connected(hello(sequence=1)) as link:
        assert (await recorded(service, command.id)).state is CommandState.UNKNOWN
        await link.nothing_heard()


class SlowAdmission:
    """Holds back the recording of the first hello until the test lets it go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.has_begun, self.may_go_on, self.is_over = (asyncio.Event() for _ in range(3))
        real = MachineStore.begin_link

        async def begin_link(
            store: MachineStore,
            organization_id: UUID,
            machine_id: str,
            client: ClientSummary,
            link: LinkFacts,
        ) -> Machine:
            if self.has_begun.is_set():
                return await real(store, organization_id, machine_id, client, link)
            self.has_begun.set()
            await self.may_go_on.wait()
            machine = await real(store, organization_id, machine_id, client, link)
            self.is_over.set()
            return machine

        monkeypatch.setattr(MachineStore, "begin_link", begin_link)


async def test_client_that_gave_up_and_came_back_is_not_replaced_by_its_own_first_try(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = SlowAdmission(monkeypatch)
    machine = await service.new_machine()
    async with machine.open_websocket() as websocket:
        await ScriptedLink(websocket).say(hello())
        await slow.has_begun.wait()
    await machine.until_closed()
    async with machine.connected() as link:
        slow.may_go_on.set()
        await slow.is_over.wait()
        await link.nothing_heard()
        await link.obeys(machine.moving(new_key()))


async def test_machine_whose_client_left_while_it_was_recorded_is_not_connected(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = SlowAdmission(monkeypatch)
    machine = await service.new_machine()
    async with machine.open_websocket() as websocket:
        await ScriptedLink(websocket).say(hello())
        await slow.has_begun.wait()
    await machine.until_closed()
    slow.may_go_on.set()
    await slow.is_over.wait()
    await machine.until_gone()
    assert (await machine.move()).problem == "machine-unavailable"


async def test_half_open_link_that_was_recorded_late_does_not_replace_a_newer_one(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database counted it last, but it was opened first: nobody is there any more."""
    slow = SlowAdmission(monkeypatch)
    machine = await service.new_machine()
    async with machine.opened(hello()) as half_open:
        await slow.has_begun.wait()
        async with machine.connected() as link:
            live = await machine.until_live()
            slow.may_go_on.set()
            await slow.is_over.wait()
            await link.nothing_heard()
            await link.obeys(machine.moving(new_key()))
            assert await machine.until_live() is live
        assert (await half_open.closed())[0] == CloseCode.TAKEN_OVER


async def test_link_that_has_not_greeted_yet_replaces_nobody(service: Service) -> None:
    machine = await service.new_machine()
    async with machine.connected() as link, machine.open_websocket():
        await until(lambda: len(list(service.server.services.machines.registry)) == 2)
        await link.obeys(machine.moving(new_key()))


async def test_late_greeting_replaces_nothing_that_was_opened_later(service: Service) -> None:
    machine, sockets = await service.new_machine(), service.server.services.machines.registry
    async with machine.open_websocket() as first:
        await until(lambda: len(list(sockets)) == 1)
        async with machine.open_websocket() as second:
            await until(lambda: len(list(sockets)) == 2)
            earlier, later = ScriptedLink(first), ScriptedLink(second)
            await earlier.say(hello())
            await earlier.heard(Welcome)
            await later.say(hello())
            await later.heard(Welcome)
            assert (await earlier.closed())[0] == CloseCode.TAKEN_OVER
            await later.ready()
            await machine.until_live()
            await later.obeys(machine.moving(new_key()))


@pytest.mark.parametrize("paused", [True, False], ids=["paused", "resumed"])
async def test_pause_during_the_greeting_is_not_missed(service: Service, paused: bool) -> None:
    machine, path = await service.new_machine(), "/v1/machines/desk-1"
    await service.request("PATCH", path, {"paused": not paused})
    async with machine.opened(hello()) as link:
        await link.heard(Welcome)
        # The machine's document is read, and its link cannot be found yet.
        await service.request("PATCH", path, {"paused": paused})
        await link.ready()
        await machine.until_live()
        moving = machine.moving()
        if paused:
            reply = await moving
            assert (reply.status, reply.json["reason"]) == (503, "paused")
            await link.interrupted()
            await link.nothing_heard()
        else:
            await link.obeys(moving)


async def test_pause_right_after_the_greeting_has_read_it_is_not_missed(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine, path = await service.new_machine(), "/v1/machines/desk-1"
    read = Admission._read_restrictions

    async def read_and_then_pause(self: Admission, link: LinkSocket) -> None:
        await read(self, link)
        monkeypatch.undo()
        await service.request("PATCH", path, {"paused": True})

    monkeypatch.setattr(Admission, "_read_restrictions", read_and_then_pause)
    async with machine.connected() as link:
        reply = await machine.move()
        assert (reply.status, reply.json["reason"]) == (503, "paused")
        await link.interrupted()
        await link.nothing_heard()


async def test_last_of_many_pauses_is_what_the_link_keeps_to(service: Service) -> None:
    machine, path = await service.new_machine(), "/v1/machines/desk-1"
    async with machine.connected() as link:
        for paused in (True, False) * 3:
            await asyncio.gather(
                *(service.request("PATCH", path, {"paused": each}) for each in (paused, not paused))
            )
            is_paused = (await service.get(path)).json["paused"]
            moving = machine.moving()
            if not is_paused:
                while isinstance(message := await link.next_message(), Interrupt):
                    pass
                assert isinstance(message, Input)
                await link.acknowledge(message.command_id)
            assert (await moving).status == (503 if is_paused else 200)


async def test_desktop_that_is_stuck_is_shown_refuses_at_once_and_recovers(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.machines.link.commands.LATE_SECONDS", 0.1)
    machine, path = await service.new_machine(), "/v1/machines/desk-1"
    async with machine.connected() as link:
        live = await machine.until_live()
        with monkeypatch.context() as patch:
            answer_within(patch, 0.3)
            asking = [machine.moving(key) for key in (new_key(), None)]
            sent = [await link.heard(Input) for _ in asking]
            assert [(await each).problem for each in asking] == ["outcome-pending"] * 2
        await until(lambda: live.availability.no_input is not None)
        view = (await service.get(path)).json
        assert (view["state"], "stuck" in view["reason"]) == ("no_input", True)
        assert live.unanswered == 2
        refused = await machine.move()
        assert (refused.status, refused.json["reason"]) == (503, "no_input")
        assert "stuck" in refused.json["detail"]
        assert refused.json["since"] == view["since"]
        for command in sent:
            await link.acknowledge(command.command_id)
        await until(lambda: live.availability.no_input is None)
        assert (await service.get(path)).json["state"] == "online"
        await link.obeys(machine.moving())


async def test_link_that_cannot_be_told_of_a_pause_is_closed(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine, path = await service.new_machine(), "/v1/machines/desk-1"

    async def silent(*_: object) -> None:
        raise StoreUnavailable("The database did not answer in time.")

    async with machine.connected() as link:
        await machine.until_live()
        with monkeypatch.context() as patch:
            patch.setattr("server.machines.admission.RESTRICTING_SECONDS", 0.2)
            patch.setattr(MachineStore, "get_together", silent)
            reply = await service.request("PATCH", path, {"paused": True})
        assert reply.json["paused"] is True
        code, _ = await link.closed()
        assert code == CloseCode.SERVER_ERROR
    async with machine.connected():
        assert (await machine.move()).json["reason"] == "paused"


async def test_end_of_a_link_is_known_before_a_silent_machine_has_closed_it(
    service: Service, machine: ScriptedMachine
) -> None:
    async with machine.connected() as silent:
        link = await machine.until_live()
        silent.websocket.transport.pause_reading()
        link.close(CloseCode.HEARTBEAT_MISSED, "no answer to a heartbeat")
        machines = service.stores.machines

        async def is_noted() -> bool:
            stored = await machines.get(service.organization_id, "desk-1")
            return stored is not None and not stored.is_linked

        async with asyncio.timeout(PATIENCE_SECONDS):
            while not await is_noted():  # noqa: ASYNC110 - no event tells
                await asyncio.sleep(0.01)
        assert link in set(service.server.services.machines.registry)
        reply = await machine.move(new_key())
        assert (reply.status, reply.json["reason"]) == (503, "offline")
        assert "no answer to a heartbeat" in reply.json["detail"]
        silent.websocket.transport.resume_reading()
