"""No approval is given by whoever asked for it, whichever token or session it makes for that."""

from schemas.resources.tokens import Scope
from server.identity.granting import MOST_MAKERS
from tests.server.api.test_console import signed_in
from tests.server.api.test_help import answer, asked
from tests.service import Service

USER = "00000000-0000-4000-8000-00000000aaaa"
OTHER_USER = "00000000-0000-4000-8000-00000000bbbb"
ALL = ["input:send", "machines:read", "help:answer", "tokens:write"]
ANSWERS = ["help:answer", "machines:read"]


async def made(service: Service, maker: str, scopes: list[str], **fields: str) -> str:
    """The secret of a token that another one makes."""
    new = {"name": "made", "scopes": scopes, **fields}
    reply = await service.post("/v1/tokens", new, token=maker)
    assert reply.status == 201, reply.body
    secret: str = reply.json["token"]
    return secret


async def test_no_token_that_the_asker_made_approves(service: Service) -> None:
    await service.new_machine()
    scopes = [Scope(each) for each in ALL]
    asker = await service.new_token(*scopes, user_id=USER)
    same_user = await service.new_token(*scopes, user_id=USER)
    between = await made(service, asker, ALL)
    refused = {
        "itself": asker,
        "made": await made(service, asker, ANSWERS),
        "made, of somebody else by its word": await made(
            service, asker, ANSWERS, user_id=OTHER_USER
        ),
        "made by one that was made": await made(service, between, ANSWERS, user_id=OTHER_USER),
        "of the same user": same_user,
        "made by another of the same user": await made(service, same_user, ANSWERS),
    }
    allowed = {
        "of somebody else": await service.new_token(*scopes, user_id=OTHER_USER),
        "of nobody": await service.new_token(Scope.HELP_ANSWER),
        "who made the asker's": service.token,
    }
    request = await asked(service, asker, kind="approval")
    for name, token in refused.items():
        for said in ("approve", "deny"):
            reply = await answer(service, request["id"], said, token=token)
            assert reply.refusal == (403, "forbidden"), (name, said)
        headers = await signed_in(service, token)
        reply = await answer(service, request["id"], "approve", token=None, headers=headers)
        assert reply.refusal == (403, "forbidden"), name
    for name, token in allowed.items():
        request = await asked(service, asker, kind="approval")
        reply = await answer(service, request["id"], "approve", token=token)
        assert (reply.status, reply.json["answer"]) == (200, "approve"), name


async def test_makers_are_known_after_they_were_revoked(service: Service) -> None:
    await service.new_machine()
    asker = await service.new_token(*[Scope(each) for each in ALL])
    between = await made(service, asker, ALL)
    last = await made(service, between, ANSWERS)
    request = await asked(service, asker, kind="approval")
    tokens = (await service.get("/v1/tokens")).json["items"]
    for each in tokens:
        if set(each["scopes"]) == set(ALL):
            assert (await service.request("DELETE", f"/v1/tokens/{each['id']}")).status == 204
    reply = await answer(service, request["id"], "approve", token=last)
    assert reply.refusal == (403, "forbidden")


async def test_what_somebody_is_to_do_may_be_done_by_whom_the_asker_let_in(
    service: Service,
) -> None:
    await service.new_machine()
    asker = await service.new_token(*[Scope(each) for each in ALL])
    helper = await made(service, asker, ANSWERS)
    request = await asked(service, asker, kind="help")
    assert (await answer(service, request["id"], "done", token=helper)).status == 200


async def test_chain_of_tokens_is_bounded(service: Service) -> None:
    token = service.token
    for _ in range(MOST_MAKERS):
        token = await made(service, token, ["tokens:write"])
    reply = await service.post(
        "/v1/tokens", {"name": "last", "scopes": ["tokens:write"]}, token=token
    )
    assert reply.refusal == (403, "forbidden")
    assert "nearer to the first" in reply.json["detail"]
