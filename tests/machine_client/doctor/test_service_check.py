"""What keeps the client running: told where it is there, and a failure only where it should run."""

import threading
from dataclasses import dataclass

import pytest

from machine_client.doctor import service_check
from machine_client.doctor.service_check import check_service
from machine_client.service.base import Service, ServiceError, ServiceState
from machine_client.service.systemd import SystemdService


@dataclass
class PlayedService(SystemdService):
    """A service whose state is given, or an error."""

    is_so: ServiceState | None = None
    error: str = ""

    def state(self) -> ServiceState | None:
        if self.error:
            raise ServiceError(self.error)
        return self.is_so


def installed(*, runs: bool) -> ServiceState:
    return ServiceState("the task", runs, "without higher rights", "it ended with 3", "a file")


@pytest.mark.parametrize(
    ("service", "good", "words"),
    [
        (PlayedService(), True, "not installed"),
        (PlayedService(installed(runs=True)), True, "without higher rights, and runs"),
        (PlayedService(installed(runs=False)), False, "does not run (it ended with 3)"),
        (PlayedService(error="there is no bus"), False, "not known whether it runs: there is no"),
    ],
)
async def test_state_is_told(service: Service, good: bool, words: str) -> None:
    finding = await check_service(lambda: service)
    assert (finding.hop, finding.good) == ("service", good)
    assert words in finding.what


async def test_system_without_a_way_to_install_is_no_failure() -> None:
    def none_here() -> Service:
        raise ServiceError("on darwin there is no way")

    finding = await check_service(none_here)
    assert (finding.good, finding.what) == (True, "on darwin there is no way")


async def test_system_that_does_not_answer_is_told_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = threading.Event()

    class Silent(PlayedService):
        def state(self) -> None:
            answers.wait()

    monkeypatch.setattr(service_check, "SECONDS", 0.2)
    finding = await check_service(Silent)
    answers.set()
    assert not finding.good
    assert "does not say within 0.2 s" in finding.what
