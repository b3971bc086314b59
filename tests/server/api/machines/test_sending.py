"""What all inputs promise, the clipboard's among them: control, order of headers, no echo."""

from typing import get_args

import pytest

from schemas.inputs.bodies import AnyInput
from schemas.link.clipboard_messages import ClipboardQuery, ClipboardRead
from schemas.link.messages import Input
from server.api.machines.sending import input_endpoint
from tests.server.api.machines.test_clipboard import PATH, able, reading_it, writing
from tests.server.api.machines.test_control import begin, held_by, taken
from tests.service import Service


@pytest.mark.parametrize("body", get_args(AnyInput))
def test_nothing_of_any_input_is_told_back(body: type[AnyInput]) -> None:
    made = input_endpoint("An input", body)
    assert made.confidential
    assert set(made.answers) == {200, 204}


async def test_clipboard_is_written_by_whoever_has_control_and_read_by_all(
    service: Service,
) -> None:
    async with service.joined(able()) as (_, link):
        lease = await taken(service, link)
        without = await writing(service, {"text": "a"})
        assert (without.status, without.json["reason"]) == (503, "controlled")
        writes = begin(service, "PUT", PATH, body={"text": "b"}, headers=held_by(lease))
        command = await link.heard(Input)
        assert command.body["text"] == "b"
        await link.acknowledge(command.command_id)
        assert (await writes).status == 200
        reads = reading_it(service)
        asked = await link.heard(ClipboardQuery)
        await link.say(ClipboardRead(request=asked.request, text="b"))
        assert (await reads).json == {"text": "b"}
