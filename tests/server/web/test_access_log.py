import logging

import pytest

from schemas.programs.log_lines import facts_of
from server.web import access_log
from tests.service import Service, until

LOGGER = access_log.logger.name


async def test_access_log_has_one_line_with_id_and_no_query(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, LOGGER):
        await service.get("/v1/trajectories?search=secret", headers={"X-Request-Id": "my-request"})
        service.flush_access_log()
    (line,) = [record.getMessage() for record in caplog.records if record.name == LOGGER]
    assert line.startswith("request=my-request GET /v1/trajectories 200 ")


async def test_access_log_names_the_command_of_an_input(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    machine = await service.new_machine()
    with caplog.at_level(logging.INFO, LOGGER):
        async with machine.connected() as link:
            sending = machine.moving()
            command = await link.obey()
            await sending
        service.flush_access_log()
    assert f"command={command.command_id}" in caplog.text
    (record,) = [record for record in caplog.records if "command" in facts_of(record)]
    facts = facts_of(record)
    assert facts.pop("took_ms") >= 0
    assert facts == {
        "request": command.request_id,
        "method": "POST",
        "path": "/v1/computer/desk-1/input/mouse/move",
        "status": 200,
        "command": command.command_id,
    }


async def test_path_cannot_forge_a_log_line(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, LOGGER):
        await service.get("/v1/machines/a%0Arequest=forged")
        service.flush_access_log()
    assert "forged" in caplog.text
    for record in caplog.records:
        assert "\n" not in record.getMessage()


async def test_lines_are_written_by_themselves_after_a_moment(
    service: Service, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access_log, "FLUSH_SECONDS", 0.01)
    with caplog.at_level(logging.INFO, LOGGER):
        await service.get("/healthz")
        await until(lambda: "GET /healthz 200" in caplog.text)


async def test_lines_are_written_when_many_have_gathered(
    service: Service, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access_log, "FLUSH_SECONDS", 60.0)
    monkeypatch.setattr(access_log, "MAX_BUFFERED", 3)
    with caplog.at_level(logging.INFO, LOGGER):
        for _ in range(3):
            await service.get("/healthz")
        await until(lambda: caplog.text.count("GET /healthz 200") == 3)


@pytest.mark.own_server
async def test_last_lines_are_written_when_the_server_stops(
    service: Service, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access_log, "FLUSH_SECONDS", 60.0)
    with caplog.at_level(logging.INFO, LOGGER):
        await service.get("/healthz")
        assert "healthz" not in caplog.text
        await service.server.stop()
    assert "GET /healthz 200" in caplog.text
