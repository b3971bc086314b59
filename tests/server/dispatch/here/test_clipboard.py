"""A clipboard is asked for as often as a machine may be asked, and read after its inputs."""

import asyncio

import pytest

from schemas.link.clipboard_messages import ClipboardQuery, ClipboardRead
from server.dispatch.here.clipboard import read_clipboard
from server.dispatch.questions.clipboard import ReadClipboard
from server.dispatch.questions.question import RefusalKind
from server.dispatch.refusals import RefusedError
from server.machines.clipboard_reads import MAX_OPEN_READS
from tests.server.api.machines.test_clipboard import OFF, able
from tests.service import Service


def question(service: Service) -> ReadClipboard:
    organization_id = service.organization_id
    return ReadClipboard(
        organization_id=organization_id, machine_id="desk-1", selection="clipboard"
    )


async def test_as_many_as_a_machine_may_be_asked(service: Service) -> None:
    async with service.joined(able()) as (machine, link):
        here = await machine.until_live()
        reads = [
            asyncio.create_task(read_clipboard(here, question(service)))  # noqa: TID251
            for _ in range(MAX_OPEN_READS)
        ]
        asked = [await link.heard(ClipboardQuery) for _ in reads]
        with pytest.raises(RefusedError) as busy:
            await read_clipboard(here, question(service))
        assert busy.value.refusal.kind is RefusalKind.BUSY
        for query in asked:
            await link.say(ClipboardRead(request=query.request, text=str(query.request)))
        assert [(await each).text for each in reads] == [str(query.request) for query in asked]


async def test_owner_who_lets_nobody_read_is_named(service: Service) -> None:
    async with service.joined(able(read=OFF)) as (machine, _):
        with pytest.raises(RefusedError, match="its owner lets nobody") as refused:
            await read_clipboard(await machine.until_live(), question(service))
        assert refused.value.refusal.kind is RefusalKind.UNAVAILABLE
