"""Who may see a machine, and which looks end where that changes."""

import asyncio

import pytest

from server.machines import privacy as module
from server.machines.link.restrictions import Control
from server.machines.privacy import MOST_REMEMBERED, NOBODY, Privacy, PrivateError

ADA = Control("lease", "Ada", 5, holder="ada", private_since=7)
BOB = Control("another", "Bob", 6, holder="bob", private_since=8)
OPEN = Control("lease", "Ada", 5, holder="ada")


def known(control: Control | None = None) -> Privacy:
    privacy = Privacy()
    privacy.changed(control)
    return privacy


async def test_holder_alone_may_look_while_control_is_private() -> None:
    for control, looker in ((None, NOBODY), (OPEN, "bob"), (ADA, "ada")):
        async with known(control).look(looker):
            pass
    for looker in (NOBODY, "bob"):
        with pytest.raises(PrivateError) as refused:
            async with known(ADA).look(looker):
                pytest.fail("somebody else sees it")
        assert (refused.value.by, refused.value.since) == ("Ada", 7)


async def test_look_that_is_under_way_ends_at_once_and_stays_ended() -> None:
    privacy, begun = known(), asyncio.Event()

    async def look(looker: str) -> str:
        async with privacy.look(looker):
            begun.set()
            await asyncio.Event().wait()
        return "seen"

    looking = asyncio.get_running_loop().create_task(look("bob"))
    await begun.wait()
    assert privacy.changed(ADA)
    assert privacy.changed(BOB)
    assert privacy.changed(None)
    with pytest.raises(PrivateError, match="Ada"):
        await looking


async def test_look_that_ends_or_fails_meanwhile_is_refused_all_the_same() -> None:
    async def look(looker: str, *controls: Control | None, fails: bool) -> None:
        privacy = known()
        async with privacy.look(looker):
            for control in controls:
                privacy.changed(control)
            if fails:
                raise ZeroDivisionError

    for fails in (False, True):
        with pytest.raises(PrivateError):
            await look("bob", ADA, None, fails=fails)
    await look("ada", ADA, None, fails=False)
    with pytest.raises(ZeroDivisionError):
        await look("ada", ADA, None, fails=True)


async def test_nothing_is_seen_before_it_is_known_who_has_control() -> None:
    privacy = Privacy()

    async def look() -> None:
        async with privacy.look("bob"):
            pass

    looking = asyncio.get_running_loop().create_task(look())
    await asyncio.sleep(0)
    assert not looking.done()
    assert not privacy.is_known
    privacy.changed(ADA)
    assert privacy.is_known
    with pytest.raises(PrivateError):
        await looking
    over = Privacy()
    over.over()
    async with over.look("bob"):
        pass  # There is nothing to be seen any more.


def test_what_was_private_is_remembered_for_as_many_as_there_is_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "server_time", lambda: 20)
    privacy = known(ADA)
    assert not privacy.changed(ADA)
    privacy.changed(OPEN)
    assert not privacy.is_private
    privacy.check_since(21, "bob")
    privacy.check_since(20, "ada")
    with pytest.raises(PrivateError):
        privacy.check_since(20, "bob")
    for number in range(MOST_REMEMBERED):
        privacy.changed(Control("lease", "Cid", 5, holder=f"{number}", private_since=7))
        privacy.changed(None)
    with pytest.raises(PrivateError, match="Cid"):
        privacy.check_since(20, "bob")
