"""A desktop that changes while its link stands, as everybody sees it who looks or listens."""

import asyncio
from typing import Any
from uuid import UUID

import pytest

from schemas.link.messages import (
    Display,
    Screenshot,
    ScreenStart,
    ScreenStop,
)
from schemas.resources.machines import Machine
from server.errors import StoreUnavailable
from server.events.event import Event, Subscription
from server.store.machines.machines import MachineStore
from tests.desktop_states import DARK, GONE, GREETING, OFF, SMALL, YES, desktop
from tests.links import hello
from tests.server.dispatch.test_machine_events import listener
from tests.service import PATIENCE_SECONDS, ScriptedMachine, Service, new_key, until


async def shown(service: Service) -> Any:
    return (await service.get("/v1/machines/desk-1")).json


async def until_shown(service: Service, **wanted: Any) -> Any:
    """Wait until the machine is shown with these fields; everything that is shown then."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            view = await shown(service)
            if all(view[name] == value for name, value in wanted.items()):
                return view
            await asyncio.sleep(0.01)


async def test_desktop_that_goes_and_comes_back_is_shown_on_the_same_link(
    service: Service, machine: ScriptedMachine
) -> None:
    async with machine.connected(GREETING) as link:
        online = await shown(service)
        await link.say(desktop(GONE, GONE, ()))
        gone = await until_shown(service, state="no_input", displays=[])
        assert gone["reason"] == "the display is gone"
        assert gone["screen"] == GONE.model_dump()
        assert gone["since"] > online["since"]
        (listed,) = (await service.get("/v1/machines")).json["items"]
        assert listed == {**gone, "round_trip_ms": listed["round_trip_ms"]}

        key = new_key()
        refused = await machine.move(key)
        assert (refused.status, refused.json["reason"]) == (503, "no_input")
        assert refused.json["since"] == gone["since"]
        assert "the display is gone" in refused.json["detail"]
        pictured = await service.get("/v1/computer/desk-1/display/screenshot")
        assert (pictured.status, pictured.json["reason"]) == (503, "no_screen")
        assert pictured.json["since"] == gone["since"]
        await link.nothing_heard()

        await link.say(desktop(displays=[SMALL]))
        back = await until_shown(service, state="online", reason="connected")
        assert back["since"] > gone["since"]
        assert back["screen"] == YES.model_dump()
        assert back["displays"] == [SMALL.model_dump()]
        # The key of what was refused was not used.
        await link.obeys(machine.moving(key))


async def test_client_that_starts_without_a_desktop_comes_online_when_there_is_one(
    service: Service, machine: ScriptedMachine
) -> None:
    without = hello(no_input="there is no display :7", no_screen="there is no display :7")
    async with machine.connected(without) as link:
        assert (await shown(service))["state"] == "no_input"
        await link.say(desktop())
        await until_shown(service, state="online", reason="connected")


async def test_command_that_is_under_way_gets_the_machines_own_outcome(service: Service) -> None:
    async with service.joined(GREETING) as (machine, link):
        moving = machine.moving(new_key())
        command = await link.next_message()
        await link.say(desktop(GONE))
        await until_shown(service, state="no_input")
        await link.acknowledge(command.command_id)  # type: ignore[union-attr]
        assert (await moving).status == 200


async def test_screen_that_cannot_be_seen_is_the_reason_of_a_machine_that_is_online(
    service: Service, machine: ScriptedMachine
) -> None:
    # The links of tests before this one are counted until their ends were heard.
    await machine.until_closed()
    async with machine.connected(GREETING) as link:
        online = await shown(service)
        await link.say(desktop(YES, DARK))
        why = "connected, but its screen cannot be seen: it is dark"
        dark = await until_shown(service, state="online", reason=why)
        assert dark["since"] > online["since"]
        text = (await service.get("/metrics")).body.decode()
        assert "\nfarhand_links_without_screen 1.0" in text
        assert "\nfarhand_links_without_input 0.0" in text
        await link.say(desktop(YES, OFF))
        await until_shown(service, state="online", reason="connected", since=online["since"])
        await link.say(desktop(GONE, OFF))
        await until_shown(service, state="no_input")
        text = (await service.get("/metrics")).body.decode()
        assert "\nfarhand_links_without_screen 0.0" in text
        assert "\nfarhand_links_without_input 1.0" in text


async def next_event(heard: Subscription) -> Event:
    """The next of the events that are told."""
    await until(lambda: heard._events)
    return heard.take(1)[0]


async def test_change_is_told_at_once_and_its_displays_outlive_the_link(service: Service) -> None:
    async with service.joined(GREETING) as (machine, link):
        heard = await listener(service)
        await link.say(desktop(GONE, displays=[SMALL]))
        told = Machine.model_validate_json((await next_event(heard)).data)
        while told.state == "online":  # The connection may still have been to tell.
            told = Machine.model_validate_json((await next_event(heard)).data)
        assert (told.id, told.state, told.displays) == ("desk-1", "no_input", [SMALL])
    await machine.until_gone()
    view = await shown(service)
    assert (view["state"], view["displays"]) == ("offline", [SMALL.model_dump()])


async def test_flood_of_changes_is_stored_and_told_a_few_times_and_ends_with_the_last(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, stored = MachineStore.note_displays, list[int]()

    async def note(store: MachineStore, *arguments: Any) -> None:
        stored.append(arguments[-1][0].width)
        await real(store, *arguments)

    monkeypatch.setattr(MachineStore, "note_displays", note)
    async with service.joined(GREETING) as (_, link):
        heard = await listener(service)
        for width in range(1, 501):
            await link.say(desktop(displays=[Display(x=0, y=0, width=width, height=1)]))
        last = [{"x": 0, "y": 0, "width": 500, "height": 1, "scale": 1.0}]
        await until_shown(service, displays=last)
        await until(lambda: stored[-1:] == [500])
        assert len(stored) < 50
        await until(lambda: heard._events and b'"width":500,' in heard._events[-1].data)
        assert len(heard._events) < 50


async def test_database_that_does_not_answer_hides_no_change(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(_: MachineStore, *__: object) -> None:
        raise StoreUnavailable("The database does not answer.")

    monkeypatch.setattr(MachineStore, "note_displays", fail)
    async with service.joined(GREETING) as (_, link):
        await link.say(desktop(GONE))
        await until_shown(service, state="no_input")
        await until(lambda: "its displays are not stored" in caplog.text)


async def test_note_of_an_older_link_changes_nothing(service: Service) -> None:
    machines: MachineStore = service.stores.machines
    machine = await service.new_machine()
    where: tuple[UUID, str] = (service.organization_id, machine.machine_id)
    async with machine.connected(GREETING):
        live = await machine.until_live()
        await machines.note_displays(*where, live.epoch - 1, [SMALL])
        stored = await machines.get(*where)
        assert stored is not None
        assert stored.client is not None
        assert list(stored.client.displays) == GREETING.displays


async def asked(machine: ScriptedMachine, what: str) -> asyncio.Task[Any]:
    service = machine.service
    answer = service.get(f"/v1/computer/{machine.machine_id}/display/{what}")
    return service.server.services.background.start(answer, "looks")


async def test_who_waits_for_a_screen_that_goes_dark_is_told_at_once_and_may_come_back(
    service: Service, machine: ScriptedMachine
) -> None:
    async with machine.connected(GREETING) as link:
        stream = await asked(machine, "stream")
        first = await link.heard(ScreenStart)
        screenshot = await asked(machine, "screenshot")
        await link.heard(Screenshot)
        await link.say(desktop(YES, DARK))
        for waiting in (stream, screenshot):
            answer = await waiting
            assert (answer.status, answer.json["reason"]) == (503, "no_screen")
            assert "it is dark" in answer.json["detail"]
        assert (await link.heard(ScreenStop)).stream == first.stream
        await link.say(desktop())
        await until_shown(service, state="online", reason="connected")
        await asked(machine, "stream")
        assert (await link.heard(ScreenStart)).stream > first.stream
