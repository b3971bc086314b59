"""A run whose token may less by now than when it was begun."""

from tests.runs import Player, approved, begun, steps, until_ended
from tests.server.fleet.test_reach import bound, put
from tests.service import Service, until


async def test_run_ends_where_its_machine_has_left_the_pools_of_its_token(
    service: Service, player: Player
) -> None:
    pool_id, token = await bound(service)
    await put(service, "desk-1", pool_id)
    trajectory = await approved(service, steps("a"))
    player.withholds = True
    first = await begun(service, trajectory)
    await until(lambda: player.waiting)
    body = {"trajectory_id": trajectory["id"], "machine_id": "desk-1"}
    run = (await service.post("/v1/runs", body, token=token)).json
    await put(service, "desk-1", pool_id, out=True)
    player.withholds = False
    await player.carry_on()
    assert (await until_ended(service, first))["status"] == "success"
    ended = await until_ended(service, run)
    assert (ended["status"], player.pressed) == ("error", ["a"])
    assert "in no pool of the token" in ended["error"]
