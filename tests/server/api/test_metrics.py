"""``GET /metrics`` of a server at work."""

import asyncio
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from schemas.resources.tokens import Scope
from server.store.audit import AuditStore
from tests.events import listening
from tests.links import COMPLETED
from tests.service import Service, new_key, until

# Counters belong to a server, and to no organization.
pytestmark = pytest.mark.own_server

Samples = dict[tuple[str, tuple[str, ...]], float]


async def read(service: Service) -> Samples:
    """Every sample by its name and the values of its labels."""
    reply = await service.get("/metrics")
    assert reply.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    return {
        (sample.name, tuple(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(reply.body.decode())
        for sample in family.samples
    }


async def test_input_is_counted_and_timed_on_each_leg(service: Service) -> None:
    async with service.joined() as (machine, link):
        for key in (None, new_key()):
            sending = machine.moving(key)
            await link.obey(COMPLETED)
            assert (await sending).status == 200
        assert (await machine.move(key)).status == 200
        recorder = service.server.services.operation.recorder
        await until(lambda: recorder.waiting == 0)
        samples = await read(service)
    assert samples["farhand_inputs_total", ("mouse.move", "completed")] == 2
    assert samples["farhand_inputs_total", ("mouse.move", "replayed")] == 1
    counts = {
        leg: samples["farhand_input_leg_seconds_count", (leg,)]
        for leg in ("claim", "wait", "link", "injection", "finish")
    }
    assert counts == {"claim": 1, "wait": 2, "link": 2, "injection": 2, "finish": 2}
    assert samples["farhand_input_leg_seconds_sum", ("injection",)] == pytest.approx(0.003)
    legs = sum(samples["farhand_input_leg_seconds_sum", (leg,)] for leg in counts)
    assert samples["farhand_input_seconds_sum", ()] >= legs - 0.003


async def test_refused_input_is_counted_by_its_problem(service: Service) -> None:
    machine = await service.new_machine()
    await machine.move()
    await machine.move(new_key())
    samples = await read(service)
    assert samples["farhand_inputs_total", ("mouse.move", "machine-unavailable")] == 2


async def test_links_streams_and_what_waits_are_shown(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    add, may_go_on = AuditStore.add_inputs, asyncio.Event()

    async def slowly(*entries: Any) -> Any:
        await may_go_on.wait()
        return await add(*entries)

    monkeypatch.setattr(AuditStore, "add_inputs", slowly)
    machine = await service.new_machine()
    async with machine.connected() as link, listening(service):
        sending = machine.moving()
        command = await link.next_message()
        samples = await read(service)
        assert samples["farhand_links", ()] == 1
        assert samples["farhand_links_opened_total", ()] == 1
        assert samples["farhand_link_reconnects_total", ()] == 0
        assert samples["farhand_inputs_unanswered", ()] == 1
        assert samples["farhand_event_subscribers", ()] == 1
        # The input and this request itself, and no stream.
        assert samples["farhand_requests_under_way", ()] == 2
        await link.acknowledge(command.command_id)  # type: ignore[union-attr]
        await sending
        assert (await read(service))["farhand_audit_waiting", ()] == 1
        may_go_on.set()
    await until(lambda: service.server.services.operation.recorder.waiting == 0)
    async with machine.connected(), machine.connected():
        samples = await read(service)
        assert samples["farhand_link_reconnects_total", ()] == 2
        assert samples["farhand_link_takeovers_total", ()] == 1
        assert samples["farhand_links", ()] == 1


async def test_database_and_event_loop_are_timed(service: Service) -> None:
    before = await read(service)
    await service.get("/v1/machines")
    metrics = service.server.services.operation.metrics
    await until(lambda: sum(metrics.loop_lag._counts))
    samples = await read(service)
    name = "farhand_mongodb_operation_seconds_count"
    assert samples[name, ()] > before[name, ()]
    assert samples["farhand_event_loop_lag_seconds_count", ()] >= 1
    assert samples["farhand_mongodb_failures_total", ()] == 0


async def test_no_name_of_anybody_is_in_it(service: Service) -> None:
    machine = await service.new_machine("secret-desk")
    async with machine.connected() as link:
        sending = machine.moving()
        await link.obey(COMPLETED)
        await sending
        text = (await service.get("/metrics")).body.decode()
    assert "secret-desk" not in text
    assert str(service.organization_id) not in text


async def test_token_for_metrics_alone_is_enough(service: Service) -> None:
    token = await service.new_token(Scope.METRICS_READ)
    assert (await service.get("/metrics", token=token)).status == 200


async def test_permanent_tasks_are_shown_before_the_first_failure(service: Service) -> None:
    samples = await read(service)
    for task in ("tick the links", "check the tokens of links", "record inputs"):
        assert samples["farhand_task_failures_total", (task,)] == 0
