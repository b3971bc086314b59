"""Whose a lease is: a session of the console is somebody else than the token behind it."""

from tests.server.api.machines.test_control import CONTROL, begin, confirms, held_by
from tests.server.api.test_console import signed_in
from tests.service import Service


async def test_lease_of_a_session_is_good_for_no_other_and_not_for_its_token(
    service: Service,
) -> None:
    async with service.joined() as (machine, link):
        first, second = [await signed_in(service) for _ in range(2)]
        taking = begin(service, "POST", token=None, headers=first)
        await confirms(link)
        reply = await taking
        assert reply.status == 201
        lease = reply.json["id"]
        path = f"{CONTROL}/{lease}"
        assert (await service.request("PUT", path, token=None, headers=first)).status == 200
        assert (await service.request("PUT", path, token=None, headers=second)).status == 409
        assert (await service.request("PUT", path)).status == 409
        assert (await machine.move(headers=held_by(lease))).problem == "control-ended"
        # Signing out ends it.
        await service.request("DELETE", "/console/session", token=None, headers=first)
        await confirms(link)
