"""The bus: what it answers, and what becomes of those who do not."""

import asyncio

import pytest

from machine_client.desktop.accessibility import bus as bus_module
from machine_client.desktop.accessibility.bus import (
    REGISTRY,
    ROOT,
    AccessibilityBus,
    CallRefusedError,
    Calls,
    SilentProgramError,
)
from machine_client.desktop.accessibility.programs import ACCESSIBLE
from machine_client.desktop.base import DesktopError
from tests.machine_client.desktop.accessibility.rig import AccessibleDesktop, Program

SECONDS = 20.0


async def programs(calls: Calls) -> list[str]:
    """The programs on the bus."""
    found = await calls.call(REGISTRY, ROOT, ACCESSIBLE, "GetChildren")
    return [str(name) for name, _path in found]


def test_bus_is_opened_when_it_is_asked_and_again_after_it_was_closed(
    accessible: AccessibleDesktop, program: Program
) -> None:
    bus = AccessibilityBus()
    for _ in range(2):
        assert bus.ask(programs, SECONDS)
        bus.close()
    bus.close()


def test_refused_call_says_so(accessible: AccessibleDesktop) -> None:
    bus = AccessibilityBus()

    async def refused(calls: Calls) -> str:
        with pytest.raises(CallRefusedError) as raised:
            await calls.call(REGISTRY, ROOT, ACCESSIBLE, "DoesNotExist")
        return str(raised.value)

    assert "DoesNotExist" in bus.ask(refused, SECONDS)
    bus.close()


def test_program_that_hangs_is_not_waited_for_twice(
    accessible: AccessibleDesktop, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    bus = AccessibilityBus()
    names = bus.ask(programs, SECONDS)
    bus.close()
    program.stop()
    monkeypatch.setattr(bus_module, "SILENCE_SECONDS", 1.0)

    async def asked(calls: Calls) -> list[str]:
        silent = []
        for name in names:
            try:
                await calls.call(name, ROOT, ACCESSIBLE, "GetRole")
            except SilentProgramError:
                # Now it is known, and this is answered without any wait.
                with pytest.raises(SilentProgramError):
                    async with asyncio.timeout(0):
                        await calls.call(name, ROOT, ACCESSIBLE, "GetRole")
                silent.append(name)
        return silent

    try:
        (hanging,) = bus.ask(asked, SECONDS)
    finally:
        program.go_on()
    program.tell("nothing")

    async def answers(calls: Calls) -> int:
        while True:
            try:
                return int(await calls.call(hanging, ROOT, ACCESSIBLE, "GetRole"))
            except SilentProgramError:
                await asyncio.sleep(0)

    assert bus.ask(answers, SECONDS) == 75
    bus.close()


def test_question_that_takes_too_long_ends(accessible: AccessibleDesktop) -> None:
    bus = AccessibilityBus()

    async def endless(_calls: Calls) -> None:
        await asyncio.Event().wait()

    with pytest.raises(DesktopError, match="in time"):
        bus.ask(endless, 0.05)
    bus.close()


def test_bus_that_is_lost_ends_its_questions(
    accessible: AccessibleDesktop, program: Program
) -> None:
    bus = AccessibilityBus()
    names = bus.ask(programs, SECONDS)
    program.stop()

    async def lost(calls: Calls) -> None:
        asked = asyncio.gather(
            *(calls.call(name, ROOT, ACCESSIBLE, "GetRole") for name in names for _ in range(40)),
            return_exceptions=True,
        )
        await asyncio.sleep(0)
        calls.close()
        assert not calls.is_open
        assert any(isinstance(each, CallRefusedError) for each in await asked)
        with pytest.raises(CallRefusedError):
            await calls.call(REGISTRY, ROOT, ACCESSIBLE, "GetRole")

    try:
        bus.ask(lost, SECONDS)
    finally:
        program.go_on()
    assert bus.ask(programs, SECONDS)
    bus.close()
