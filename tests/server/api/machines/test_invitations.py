"""Machines that join with a code: made once each, whatever is cut off on the way."""

import asyncio
import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Subprotocol

from schemas.link.messages import CONNECT_PATH, HOST_HEADER, JOIN_HEADER, SUBPROTOCOL, Welcome
from schemas.resources.tokens import Scope
from schemas.values.times import format_time
from tests.links import hello
from tests.server.fleet.test_reach import bound, put
from tests.service import ScriptedLink, Service

TOKEN = "fh_made_by_the_host"


def own(service: Service, token: str) -> str:
    """A token that no other test has made."""
    return f"{token}_{service.organization_id}"


async def invited(service: Service, **wanted: Any) -> dict[str, Any]:
    reply = await service.post("/v1/invitations", wanted)
    assert reply.status == 201, reply.body
    made: dict[str, Any] = reply.json
    return made


def joining(service: Service, code: str, token: str = TOKEN, host: str = "reception-pc") -> connect:
    """The handshake of a host that has a code, and has made itself a token."""
    return connect(
        service.url.replace("http:", "ws:") + CONNECT_PATH,
        additional_headers={
            "Authorization": f"Bearer {code}",
            JOIN_HEADER: hashlib.sha256(own(service, token).encode()).hexdigest(),
            HOST_HEADER: host,
        },
        subprotocols=[Subprotocol(SUBPROTOCOL)],
        proxy=None,
    )


def coming_back(service: Service, token: str = TOKEN) -> connect:
    """The handshake with the token alone."""
    return connect(
        service.url.replace("http:", "ws:") + CONNECT_PATH,
        additional_headers={"Authorization": f"Bearer {own(service, token)}"},
        subprotocols=[Subprotocol(SUBPROTOCOL)],
        proxy=None,
    )


async def welcomed(attempt: connect) -> str:
    """The machine that a link is welcomed as."""
    async with attempt as websocket:
        link = ScriptedLink(websocket)
        await link.say(hello())
        return (await link.heard(Welcome)).machine_id


async def refused(attempt: connect) -> tuple[int, str]:
    """The status and the body with which the handshake is refused."""
    with pytest.raises(InvalidStatus) as caught:
        await attempt
    response = caught.value.response
    return response.status_code, (response.body or b"").decode()


async def machines(service: Service) -> list[str]:
    return [each["id"] for each in (await service.get("/v1/machines")).json["items"]]


async def test_host_becomes_a_machine_and_its_own_token_is_good(service: Service) -> None:
    made = await invited(service, name="Berlin")
    assert made["code"].startswith("fhj_")
    assert await welcomed(joining(service, made["code"])) == "reception-pc"
    assert await welcomed(coming_back(service)) == "reception-pc"
    machine = (await service.get("/v1/machines/reception-pc")).json
    assert machine["invitation"] == {"id": made["id"], "name": "Berlin"}
    (join,) = (await service.get(f"/v1/invitations/{made['id']}/joins")).json["items"]
    assert (join["host"], join["state"], join["machine_id"]) == (
        *("reception-pc", "joined", "reception-pc"),
    )
    audit = (await service.get("/v1/audit?action=machine.joined")).json["items"]
    assert [(each["token_name"], each["target"]) for each in audit] == [
        ("invitation Berlin", "reception-pc")
    ]


async def test_host_whose_answer_was_lost_joins_again_as_the_same(service: Service) -> None:
    made = await invited(service)
    for _ in range(3):
        # Each time the connection is gone before a word was said.
        await (await joining(service, made["code"])).close()
    assert await welcomed(joining(service, made["code"])) == "reception-pc"
    assert await machines(service) == ["reception-pc"]
    used = (await service.get(f"/v1/invitations/{made['id']}")).json["used"]
    assert used == 1


async def test_code_is_good_for_so_many_hosts_and_no_more(service: Service) -> None:
    made = await invited(service, uses=2)
    tokens = [f"fh_token_of_host_{number}" for number in range(5)]
    ends = await asyncio.gather(
        *(welcomed(joining(service, made["code"], token)) for token in tokens),
        return_exceptions=True,
    )
    joined = [each for each in ends if isinstance(each, str)]
    assert sorted(joined) == ["reception-pc", "reception-pc-2"]
    assert await machines(service) == sorted(joined)
    status, body = await refused(joining(service, made["code"], "fh_another"))
    assert (status, "was used up" in body) == (401, True)
    assert (await service.get("/v1/invitations")).json["total"] == 0


async def test_hosts_of_one_name_get_numbers_and_take_no_machine_that_is_there(
    service: Service,
) -> None:
    await service.new_machine("till")
    made = await invited(service, uses=6)
    names = [
        await welcomed(joining(service, made["code"], f"fh_token_{number}", host))
        for number, host in enumerate(["till", "till", "Till 3", "ünï", "...", "till"])
    ]
    assert names == ["till-2", "till-3", "Till-3", "n", "machine", "till-4"]


async def test_hash_alone_opens_nothing(service: Service) -> None:
    made, other = await invited(service), await invited(service)
    assert await welcomed(joining(service, made["code"])) == "reception-pc"
    for code in ("fhj_guessed", other["code"]):
        assert (await refused(joining(service, code)))[0] == 401


async def test_hash_of_a_token_that_is_there_is_refused(service: Service) -> None:
    made = await invited(service)
    digest = hashlib.sha256(service.token.encode()).hexdigest()
    attempt = connect(
        service.url.replace("http:", "ws:") + CONNECT_PATH,
        additional_headers={"Authorization": f"Bearer {made['code']}", JOIN_HEADER: digest},
        subprotocols=[Subprotocol(SUBPROTOCOL)],
        proxy=None,
    )
    assert (await refused(attempt))[0] == 401
    assert (await service.get(f"/v1/invitations/{made['id']}")).json["used"] == 0


async def test_host_that_waits_may_come_with_another_invitation(service: Service) -> None:
    slow, quick = await invited(service, approval=True), await invited(service)
    assert (await refused(joining(service, slow["code"])))[0] == 403
    assert await welcomed(joining(service, quick["code"])) == "reception-pc"
    assert (await service.get(f"/v1/invitations/{slow['id']}/joins")).json["items"] == []


async def test_invitation_for_one_machine_adds_it_and_is_for_no_other(service: Service) -> None:
    made = await invited(service, machine_id="reception")
    assert await machines(service) == ["reception"]
    assert await welcomed(joining(service, made["code"], host="anything")) == "reception"
    assert (await refused(joining(service, made["code"], "fh_another")))[0] == 401
    again = await invited(service, machine_id="reception")
    assert await welcomed(joining(service, again["code"], "fh_another")) == "reception"


async def test_invitation_falls_with_its_machine(service: Service) -> None:
    made = await invited(service, machine_id="reception")
    waiting = await invited(service, machine_id="reception", approval=True)
    assert (await refused(joining(service, waiting["code"], "fh_waiting")))[0] == 403
    assert (await service.request("DELETE", "/v1/machines/reception")).status == 204
    await service.new_machine("reception")
    assert (await refused(joining(service, made["code"])))[0] == 401
    path = f"/v1/invitations/{waiting['id']}/joins"
    (join,) = (await service.get(path)).json["items"]
    decided = await service.request("PATCH", f"{path}/{join['id']}", {"approved": True})
    assert (decided.json["state"], decided.json["machine_id"]) == ("refused", None)


async def test_invitation_of_a_bound_token_falls_where_its_machine_leaves_the_pools(
    service: Service,
) -> None:
    pool_id, token = await bound(service)
    await service.new_machine("pos-1")
    await put(service, "pos-1", pool_id)
    body = {"machine_id": "pos-1", "pool_ids": [pool_id]}
    made = (await service.post("/v1/invitations", body, token=token)).json
    of_all = await invited(service, **body)
    await put(service, "pos-1", pool_id, out=True)
    assert (await refused(joining(service, made["code"])))[0] == 401
    pools = (await service.get("/v1/machines/pos-1")).json["pools"]
    assert pools == []
    # Whoever reaches all machines has it back there by that.
    assert await welcomed(joining(service, of_all["code"])) == "pos-1"
    pools = (await service.get("/v1/machines/pos-1")).json["pools"]
    assert [each["id"] for each in pools] == [pool_id]
    assert await welcomed(joining(service, made["code"], "fh_another")) == "pos-1"


async def test_host_of_a_bound_token_is_no_machine_that_was_removed_beyond_the_pools(
    service: Service,
) -> None:
    pool_id, token = await bound(service)
    for name, is_inside in (("pos", False), ("till", True)):
        await service.new_machine(name)
        if is_inside:
            await put(service, name, pool_id)
        assert (await service.request("DELETE", f"/v1/machines/{name}")).status == 204
    new = {"pool_ids": [pool_id], "uses": 3}
    code = (await service.post("/v1/invitations", new, token=token)).json["code"]
    for number, (host, expected) in enumerate(
        [("pos", "pos-2"), ("pos", "pos-3"), ("till", "till")]
    ):
        assert await welcomed(joining(service, code, f"fh_{number}", host)) == expected
    # Whoever reaches all machines has it back.
    of_all = await invited(service)
    assert await welcomed(joining(service, of_all["code"], host="pos")) == "pos"


async def test_host_that_waits_loses_nothing_by_a_code_that_is_used_up(service: Service) -> None:
    slow, spent = await invited(service, approval=True), await invited(service)
    assert await welcomed(joining(service, spent["code"], "fh_first")) == "reception-pc"
    assert (await refused(joining(service, slow["code"])))[0] == 403
    assert (await refused(joining(service, spent["code"])))[0] == 401
    joins = (await service.get(f"/v1/invitations/{slow['id']}/joins")).json["items"]
    assert [each["state"] for each in joins] == ["waiting"]


async def test_host_waits_until_somebody_lets_it_in(service: Service) -> None:
    made = await invited(service, uses=2, approval=True)
    for token in (TOKEN, TOKEN, "fh_second"):
        status, body = await refused(joining(service, made["code"], token))
        assert (status, "/problems/awaiting-approval" in body) == (403, True)
    assert await machines(service) == []
    path = f"/v1/invitations/{made['id']}/joins"
    second, first = (await service.get(path)).json["items"]
    assert (first["state"], second["state"]) == ("waiting", "waiting")
    decided = await service.request("PATCH", f"{path}/{first['id']}", {"approved": True})
    assert decided.json["machine_id"] == "reception-pc"
    assert await welcomed(joining(service, made["code"])) == "reception-pc"
    assert await welcomed(coming_back(service)) == "reception-pc"
    decided = await service.request("PATCH", f"{path}/{second['id']}", {"approved": False})
    assert decided.json["state"] == "refused"
    status, body = await refused(joining(service, made["code"], "fh_second"))
    assert (status, "/problems/forbidden" in body) == (403, True)
    again = await service.request("PATCH", f"{path}/{second['id']}", {"approved": True})
    assert again.refusal == (404, "not-found")
    told = (await service.get("/v1/audit?action=join")).json["items"]
    assert [each["action"] for each in told] == ["join.refused", "join.approved"]


async def test_revoked_and_ended_invitations_let_nobody_in(service: Service) -> None:
    made = await invited(service, uses=5)
    assert await welcomed(joining(service, made["code"])) == "reception-pc"
    revoked = await service.request("DELETE", f"/v1/invitations/{made['id']}")
    assert revoked.status == 204
    assert (await refused(joining(service, made["code"], "fh_another")))[0] == 401
    assert await welcomed(coming_back(service)) == "reception-pc"
    seconds, reply = 0.3, None
    # It has to end after the request has come, however long that takes.
    while reply is None or reply.status == 422:
        soon = format_time(datetime.now(UTC) + timedelta(seconds=seconds))
        reply = await service.post("/v1/invitations", {"expires_at": soon})
        seconds *= 2
    short = reply.json
    listed = ["it"]
    while listed:
        listed = (await service.get("/v1/invitations")).json["items"]
    assert (await refused(joining(service, short["code"], "fh_third")))[0] == 401


@pytest.mark.parametrize(
    ("wanted", "loc"),
    [
        ({"uses": 0}, ["body", "uses"]),
        ({"uses": 1001}, ["body", "uses"]),
        ({"machine_id": "a", "uses": 2}, ["body"]),
        ({"expires_at": "2020-01-01T00:00:00Z"}, ["body", "expires_at"]),
        ({"expires_at": "2999-01-01T00:00:00Z"}, ["body", "expires_at"]),
    ],
)
async def test_wrong_invitations_are_told(
    service: Service, wanted: dict[str, Any], loc: list[str]
) -> None:
    reply = await service.post("/v1/invitations", wanted)
    assert [place for place, _ in reply.faults] == [loc]


async def test_wrong_handshakes_are_told(service: Service) -> None:
    made = await invited(service)
    url = service.url.replace("http:", "ws:") + CONNECT_PATH
    for headers, status in (
        ({JOIN_HEADER: "abc", "Authorization": f"Bearer {made['code']}"}, 422),
        ({JOIN_HEADER: "0" * 64}, 401),
        ({JOIN_HEADER: "0" * 64, "Authorization": "Bearer fhj_guessed"}, 401),
        ({"Authorization": f"Bearer {made['code']}"}, 401),
    ):
        attempt = connect(
            url,
            additional_headers=headers,
            subprotocols=[Subprotocol(SUBPROTOCOL)],
            proxy=None,
        )
        assert (await refused(attempt))[0] == status
    assert await machines(service) == []


async def test_invitations_are_of_their_organization_and_scope(service: Service) -> None:
    made = await invited(service)
    other = await service.elsewhere()
    assert (await other.get(f"/v1/invitations/{made['id']}")).refusal == (404, "not-found")
    assert (await other.get("/v1/invitations")).json["total"] == 0
    writer = await service.new_token(Scope.MACHINES_WRITE)
    reply = await service.post("/v1/invitations", {}, token=writer)
    assert reply.refusal == (403, "forbidden")
    inviter = await service.new_token(Scope.POOLS_WRITE)
    assert (await service.post("/v1/invitations", {}, token=inviter)).status == 201
    reply = await service.post("/v1/invitations", {"machine_id": "till"}, token=inviter)
    assert reply.refusal == (403, "forbidden")
