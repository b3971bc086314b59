"""What became of a command, asked by its id."""

from uuid import uuid4

from schemas.inputs.outcomes import NotCarriedOut
from schemas.link.messages import Input
from schemas.resources.tokens import Scope
from tests.commands import kept_as_sent
from tests.service import Service, new_key, scopes_without


async def test_final_command_shows_its_first_answer(service: Service) -> None:
    async with service.joined() as (machine, link):
        sending = machine.moving(new_key())
        command = await link.obey()
        first = await sending
    for path in (
        f"/v1/commands/{command.command_id}",
        f"/v1/machines/desk-1/commands/{command.command_id}",
    ):
        view = (await service.get(path)).json
        assert (view["state"], view["final"]) == ("done", True)
        assert (view["operation"], view["machine_id"]) == ("mouse.move", "desk-1")
        assert view["answer"] == {"status": 200, "body": first.json}
        assert view["accepted_at"] <= view["final_at"] <= view["expires_at"]


async def test_command_without_a_body_in_its_answer_has_none(service: Service) -> None:
    async with service.joined() as (machine, link):
        sending = machine.moving(new_key(), headers={"Prefer": "return=minimal"})
        command = await link.obey()
        assert (await sending).status == 204
    view = (await service.get(f"/v1/commands/{command.command_id}")).json
    assert view["answer"] == {"status": 204, "body": None}


async def test_command_under_way_is_sent_and_not_final(service: Service) -> None:
    async with service.joined() as (machine, link):
        sending = machine.moving(new_key())
        command = await link.heard(Input)
        view = (await service.get(f"/v1/commands/{command.command_id}")).json
        assert (view["state"], view["final"]) == ("sent", False)
        assert (view["answer"], view["final_at"]) == (None, None)
        await link.acknowledge(command.command_id)
        assert (await sending).status == 200


async def test_command_that_never_arrived_says_so(service: Service) -> None:
    machine = await service.new_machine()
    command = await kept_as_sent(service, new_key())
    async with machine.connected(wait_until_live=False) as link:
        await link.next_message()
        await link.report(command.id, NotCarriedOut())
        await machine.until_live()
    view = (await service.get(f"/v1/commands/{command.id}")).json
    assert (view["state"], view["final"], view["answer"]["status"]) == (
        "not_carried_out",
        True,
        503,
    )


async def test_what_may_not_be_seen_does_not_exist(service: Service) -> None:
    await service.new_machine()
    command = await kept_as_sent(service, new_key())
    assert (await service.get(f"/v1/commands/{uuid4()}")).refusal == (404, "not-found")
    other = await service.elsewhere()
    for reply in (
        await service.get(f"/v1/machines/desk-2/commands/{command.id}"),
        await other.get(f"/v1/commands/{command.id}"),
        await other.get(f"/v1/machines/desk-1/commands/{command.id}"),
    ):
        assert (reply.status, reply.problem) == (404, "not-found")
    assert (await service.get("/v1/commands/none")).faults == [
        (["path", "command_id"], "uuid_parsing")
    ]


async def test_looking_takes_the_scope_of_sending(service: Service) -> None:
    token = await service.new_token(*scopes_without(Scope.INPUT_SEND))
    assert (await service.get(f"/v1/commands/{uuid4()}", token=token)).refusal == (403, "forbidden")
