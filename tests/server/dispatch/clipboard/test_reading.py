"""A clipboard is asked for as often as a machine may be asked, and read after its inputs."""

import asyncio

import pytest

from schemas.http.problems import MACHINE_BUSY, MACHINE_UNAVAILABLE, ProblemError
from schemas.link.clipboard_messages import ClipboardQuery, ClipboardRead
from server.dispatch.clipboard.reading import read_clipboard
from server.machines.clipboard.reading import MAX_OPEN_READS
from tests.server.api.machines.test_clipboard import OFF, able
from tests.service import Service


@pytest.mark.gen_test
async def test_as_many_as_a_machine_may_be_asked(service: Service) -> None:
    machine = await service.new_machine()
    async with machine.connected(able()) as link:
        here = await machine.until_live()
        reads = [
            asyncio.create_task(read_clipboard(here, "clipboard"))  # noqa: TID251
            for _ in range(MAX_OPEN_READS)
        ]
        asked = [await link.heard(ClipboardQuery) for _ in reads]
        with pytest.raises(ProblemError) as busy:
            await read_clipboard(here, "clipboard")
        assert busy.value.problem_type is MACHINE_BUSY
        for query in asked:
            await link.say(ClipboardRead(request=query.request, text=str(query.request)))
        assert [await each for each in reads] == [str(query.request) for query in asked]


@pytest.mark.gen_test
async def test_owner_who_lets_nobody_read_is_named(service: Service) -> None:
    machine = await service.new_machine()
    async with machine.connected(able(read=OFF)):
        with pytest.raises(ProblemError, match="its owner lets nobody") as refused:
            await read_clipboard(await machine.until_live(), "clipboard")
        assert refused.value.problem_type is MACHINE_UNAVAILABLE
