"""Control of a machine over HTTP, with a machine that the test plays."""

import asyncio
import logging
from datetime import UTC, datetime
from typing import Any

import pytest

from schemas.inputs.outcomes import Failed
from schemas.link.messages import Input, Interrupt, Interrupted
from schemas.resources.tokens import Scope
from server.dispatch.here import machines as here_module
from server.dispatch.questions.control import ControlChanged
from server.store.times import now
from tests.events import listening
from tests.service import Reply, ScriptedLink, Service, new_key

CONTROL = "/v1/machines/desk-1/control"
REQUEST = f"{CONTROL}/request"
CUT_SHORT = Failed(code="interrupted", message="cut short", injected_at_least=2)


async def confirms(link: ScriptedLink) -> None:
    """The machine does what it is asked."""
    await link.interrupted()


def begin(
    service: Service, method: str, path: str = CONTROL, **options: Any
) -> asyncio.Task[Reply]:
    """Ask for something, in the background."""
    background = service.server.services.background
    return background.start(service.request(method, path, **options), "somebody at the machine")


async def taken(service: Service, link: ScriptedLink, **body: Any) -> str:
    """Take control; the lease's id."""
    taking = begin(service, "POST", body=body)
    await confirms(link)
    reply = await taking
    assert reply.status == 201, reply.body
    return str(reply.json["id"])


def held_by(lease: str) -> dict[str, str]:
    """The header that an input of a lease's holder has."""
    return {"Farhand-Control": lease}


async def test_who_has_control_can_be_asked_for_it(service: Service) -> None:
    other = await service.new_token(Scope.MACHINES_CONTROL)
    async with (
        service.joined() as (_, link),
        listening(service, "?types=control_requested") as told,
    ):
        free = await service.post(REQUEST, token=other)
        assert (free.status, free.problem) == (409, "control-free")
        await taken(service, link)
        assert (await service.post(REQUEST, {"note": "lunch"}, token=other)).status == 204
        assert (await told.next()).data == {"id": "desk-1", "by": "of a test", "note": "lunch"}
        assert (await service.post(REQUEST, token=other)).status == 204
        assert (await told.next()).data == {"id": "desk-1", "by": "of a test", "note": None}
    kept = (await service.get("/v1/audit?action=control.requested")).json["items"]
    assert [(each["token_name"], each["note"]) for each in kept] == [
        ("of a test", None),
        ("of a test", "lunch"),
    ]


async def test_control_is_taken_renewed_and_given_back(service: Service) -> None:
    async with service.joined() as (machine, link):
        taking = begin(service, "POST")
        await confirms(link)
        reply = await taking
        assert reply.status == 201
        lease = reply.json["id"]
        assert reply.json["machine_id"] == "desk-1"
        assert reply.json["by"] == "administrator"
        began, ends = (datetime.fromisoformat(reply.json[name]) for name in ("since", "expires_at"))
        assert (ends - began).total_seconds() == 30
        shown = (await service.get("/v1/machines/desk-1")).json
        assert shown["control"] == {
            "by": "administrator",
            "since": reply.json["since"],
            "private": False,
        }
        renewed = await service.request("PUT", f"{CONTROL}/{lease}")
        assert renewed.status == 200
        assert renewed.json["id"] == lease
        assert datetime.fromisoformat(renewed.json["expires_at"]) >= ends
        ending = begin(service, "DELETE", f"{CONTROL}/{lease}")
        await confirms(link)
        assert (await ending).status == 204
        assert (await service.get("/v1/machines/desk-1")).json["control"] is None
        for method in ("PUT", "DELETE"):
            over = await service.request(method, f"{CONTROL}/{lease}")
            assert (over.status, over.problem) == (409, "control-ended")
        await link.obeys(machine.moving())


async def test_holder_may_send_and_others_are_told_who_has_control(service: Service) -> None:
    async with service.joined() as (machine, link):
        lease = await taken(service, link)
        since = (await service.get("/v1/machines/desk-1")).json["control"]["since"]
        await service.request("PATCH", "/v1/machines/desk-1", {"paused": True})
        key = new_key()
        for headers in ({}, {"Idempotency-Key": key}):
            refused = await machine.move(headers=headers)
            assert (refused.status, refused.problem) == (503, "machine-unavailable")
            assert refused.json["reason"] == "controlled"
            assert (refused.json["by"], refused.json["since"]) == ("administrator", since)
            assert int(refused.headers["Retry-After"]) > 0
        moving = machine.moving(key, headers=held_by(lease))
        command = await link.obey()
        assert "lease_hash" not in command.model_dump_json()
        assert (await moving).status == 200
        # What is final is given again to whoever has the key.
        again = await machine.move(key)
        assert (again.status, again.headers["Idempotency-Replayed"]) == (200, "true")


async def test_lease_that_is_over_guessed_or_somebody_elses_is_good_for_nothing(
    service: Service,
) -> None:
    async with service.joined() as (machine, link):
        lease = await taken(service, link)
        other = await service.new_token(Scope.INPUT_SEND, Scope.MACHINES_CONTROL)
        key = new_key()
        for headers, token in (
            (held_by("guessed"), None),
            (held_by("x" * 200), None),
            (held_by(lease), other),
        ):
            refused = await machine.move(key, headers=headers, token=token or "")
            assert (refused.status, refused.problem) == (409, "control-ended")
        for method in ("PUT", "DELETE"):
            over = await service.request(method, f"{CONTROL}/{lease}", token=other)
            assert (over.status, over.problem) == (409, "control-ended")
            unknown = await service.request(method, f"/v1/machines/none/control/{lease}")
            assert (unknown.status, unknown.problem) == (404, "not-found")
        await service.new_machine("desk-2")
        elsewhere = await service.request("PUT", f"/v1/machines/desk-2/control/{lease}")
        assert (elsewhere.status, elsewhere.problem) == (409, "control-ended")
        foreign = await (await service.elsewhere()).request("PUT", f"{CONTROL}/{lease}")
        assert (foreign.status, foreign.problem) == (404, "not-found")
        too_long = await machine.move(headers=held_by("x" * 201))
        assert too_long.faults == [(["header", "Farhand-Control"], "string_too_long")]
        await link.nothing_heard()
        await link.obeys(machine.moving(key, headers=held_by(lease)))


async def test_second_taker_is_told_who_has_it_and_may_take_over(service: Service) -> None:
    async with service.joined() as (machine, link):
        first = await taken(service, link)
        held = await service.post(CONTROL)
        assert (held.status, held.problem) == (409, "control-held")
        assert held.json["by"] == "administrator"
        assert datetime.fromisoformat(held.json["since"]) <= datetime.now(UTC)
        second = await taken(service, link, take_over=True, note="it is stuck")
        assert second != first
        assert (await machine.move(headers=held_by(first))).refusal == (409, "control-ended")
        audit = (await service.get("/v1/audit?action=control")).json["items"]
        assert [(entry["action"], entry["note"]) for entry in audit] == [
            ("control.taken_over", "it is stuck"),
            ("control.taken", None),
        ]


async def test_what_runs_is_interrupted_before_control_is_given(service: Service) -> None:
    async with service.joined() as (machine, link):
        running = machine.moving(new_key())
        command = await link.heard(Input)
        taking = begin(service, "POST")
        asked = await link.heard(Interrupt)
        refused = await machine.move()
        assert refused.json["reason"] == "controlled"
        await link.acknowledge(command.command_id, CUT_SHORT)
        failed = await running
        assert (failed.status, failed.problem) == (502, "input-failed")
        assert failed.json["injected_at_least"] == 2
        assert not taking.done()
        await link.say(Interrupted(request=asked.request))
        assert (await taking).status == 201


async def test_machine_that_does_not_confirm_is_under_nobodys_control(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(here_module, "INTERRUPT_SECONDS", 0.2)
    async with service.joined() as (machine, link):
        taking = begin(service, "POST")
        await link.heard(Interrupt)
        reply = await taking
        assert (reply.status, reply.problem) == (503, "machine-unavailable")
        assert reply.json["reason"] == "not_interrupted"
        assert (await service.get("/v1/machines/desk-1")).json["control"] is None
        await link.heard(Interrupt)
        await link.obeys(machine.moving())


async def test_link_that_ends_while_control_is_taken_leaves_it_to_nobody(service: Service) -> None:
    async with service.joined() as (_, link):
        taking = begin(service, "POST")
        await link.heard(Interrupt)
    reply = await taking
    assert (reply.status, reply.json["reason"]) == (503, "not_interrupted")


async def test_machine_that_is_not_there_cannot_be_controlled(service: Service) -> None:
    await service.new_machine()
    offline = await service.post(CONTROL)
    assert (offline.status, offline.json["reason"]) == (503, "offline")
    assert (await service.post("/v1/machines/none/control")).refusal == (404, "not-found")


async def test_lease_that_nobody_renews_ends_by_itself(service: Service) -> None:
    async with service.joined() as (machine, link):
        lease = await taken(service, link)
        machines = service.server.services.operation.database.collection("machines")
        # Its time is over once it was given, however long that took.
        await machines.update_one(
            {"organization_id": service.organization_id, "control.expires_at": {"$gt": now()}},
            {"$set": {"control.expires_at": now()}},
        )
        # Whatever its holder holds is released.
        await confirms(link)
        assert (await machine.move(headers=held_by(lease))).refusal == (409, "control-ended")
        await link.obeys(machine.moving())
        (lapsed, _) = (await service.get("/v1/audit?action=control")).json["items"]
        assert (lapsed["action"], lapsed["token_name"]) == ("control.lapsed", "administrator")


async def test_control_ends_with_its_holders_token(service: Service) -> None:
    async with service.joined() as (machine, link):
        token = await service.new_token(Scope.MACHINES_CONTROL)
        taking = begin(service, "POST", token=token)
        await confirms(link)
        assert (await taking).status == 201
        tokens = (await service.get("/v1/tokens")).json["items"]
        (mine,) = [each for each in tokens if each["scopes"] == ["machines:control"]]
        assert (await service.request("DELETE", f"/v1/tokens/{mine['id']}")).status == 204
        await confirms(link)
        await link.obeys(machine.moving())


async def test_newer_link_keeps_to_the_lease_and_interrupts_nothing_of_its_holder(
    service: Service,
) -> None:
    async with service.joined() as (machine, link):
        lease = await taken(service, link)
    await machine.until_closed()
    async with machine.connected() as link:
        refused = await machine.move()
        assert refused.json["reason"] == "controlled"
        await link.obeys(machine.moving(headers=held_by(lease)))


async def test_of_two_takers_at_once_one_has_control(service: Service) -> None:
    async with service.joined() as (_machine, link):
        takers = [begin(service, "POST") for _ in range(2)]
        await confirms(link)
        assert sorted([(await each).status for each in takers]) == [201, 409]


async def test_lease_is_told_to_nobody_else(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with service.joined() as (machine, link):
        lease = await taken(service, link)
        await service.request("PUT", f"{CONTROL}/{lease}")
        await service.get(f"{CONTROL}/{lease}/nothing")
        for spelling in (
            "/%63ontrol/",
            "//control/",
            "/control%2F",
            "/CONTROL/",
            "/controls/",
            "/",
        ):
            await service.get(f"/v1/machines/desk-1{spelling}{lease}")
        for path in (f"/{lease}", f"/v1/{lease}", f"//{lease}/v1"):
            await service.get(path)
        await machine.move(headers=held_by("guessed"))
        ending = begin(service, "DELETE", f"{CONTROL}/{lease}")
        await confirms(link)
        assert (await ending).status == 204
        service.flush_access_log()
        assert "/control/..." in caplog.text
        assert "GET /v1/machines/... 404" in caplog.text
        shown = [
            (await service.get(path)).body.decode()
            for path in ("/v1/machines", "/v1/machines/desk-1", "/v1/audit")
        ]
        for text in (caplog.text, *shown):
            assert lease not in text


async def test_events_tell_who_has_control(service: Service) -> None:
    async with service.joined() as (_machine, link):
        lease = await taken(service, link)
        fleet = service.server.services.machines.fleet

        async def control() -> Any:
            return (await fleet.get(service.organization_id, "desk-1")).control

        assert (await control()).by == "administrator"
        ending = begin(service, "DELETE", f"{CONTROL}/{lease}")
        await confirms(link)
        await ending
        assert await control() is None


async def test_old_link_cannot_confirm_for_a_newer_one(service: Service) -> None:
    async with service.joined() as (machine, link):
        live = await machine.until_live()
        dispatcher = service.server.services.machines.dispatcher
        changed = ControlChanged(
            organization_id=service.organization_id,
            machine_id="desk-1",
            epoch=live.epoch + 1,
            lease_hash=None,
        )
        assert "did not confirm" in str(await dispatcher.ask(changed))
        await link.nothing_heard()
