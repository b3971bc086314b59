"""What was wrong with a machine: noted as it ends, bounded, told with what is wrong now."""

from datetime import timedelta
from typing import Any

from farhand import AsyncFarhand
from server.store.machines.troubles import KEPT, MOST, TAKEN_OVER, StoredTrouble, TroubleStore
from server.store.times import now
from tests.desktop_states import DARK, GONE, GREETING, OFF, YES, desktop
from tests.links import hello
from tests.service import Service, until

PATH = "/v1/machines/desk-1/trouble"


async def troubles(service: Service, query: str = "") -> list[tuple[str, str, bool]]:
    page = (await service.get(f"{PATH}?{query}")).json
    return [(each["kind"], each["reason"], each["until"] is None) for each in page["items"]]


async def test_each_time_of_trouble_is_told_with_its_reason(service: Service) -> None:
    machine = await service.new_machine()
    # A machine that was never there is not gone.
    assert await troubles(service) == []
    async with machine.connected(GREETING) as link:
        await machine.until_live()
        assert await troubles(service) == []
        expected: list[tuple[str, str, bool]] = []
        for change, kind, word in (
            (desktop(GONE), "no_input", "gone"),
            (desktop(YES, DARK), "no_screen", "dark"),
            (desktop(YES, OFF), None, None),
        ):
            await link.say(change)
            seen = service.link_of("desk-1")
            assert seen is not None
            await until(lambda seen=seen, kind=kind: (seen.trouble and seen.trouble.kind) == kind)
            # What was seen to be over is noted a moment later.
            await until_noted(service, len(expected))
            found = await troubles(service)
            assert [(each[0], each[2]) for each in found] == [
                *([] if kind is None else [(kind, True)]),
                *((each, False) for each, _, _ in expected),
            ]
            if word is not None:
                assert word in found[0][1]
                expected.insert(0, found[0])
        # Another connection takes over at once: it was never away.
        async with machine.connected(hello(sequence=1)):
            await until(lambda: service.link_of("desk-1") not in (seen, None))
            assert len(await troubles(service)) == 2
    await machine.until_gone()
    (gone, *_) = await troubles(service)
    assert (gone[0], gone[2]) == ("offline", True)
    async with machine.connected(hello(sequence=2)):
        await machine.until_live()
        assert await troubles(service, "limit=1") == [("offline", gone[1], False)]
        page = (await service.get(f"{PATH}?skip=1&limit=1")).json
        assert (page["total"], page["items"][0]["kind"]) == (3, "no_screen")
        assert page["items"][0]["seconds"] >= 0
        async with AsyncFarhand(service.url, service.token) as client:
            listed = [each async for each in client.machine("desk-1").trouble()]
        assert [each.kind for each in listed] == ["offline", "no_screen", "no_input"]
        assert all(each.until is not None for each in listed)
    other = await service.elsewhere()
    assert (await other.get(PATH)).status == 404


async def until_noted(service: Service, count: int) -> None:
    store = TroubleStore(service.server.services.operation.database)
    while len(await store.of(service.organization_id, "desk-1")) < count:
        pass


async def test_trouble_ends_with_the_link_and_goes_with_the_machine(service: Service) -> None:
    machine = await service.new_machine()
    async with machine.connected(GREETING) as link:
        await machine.until_live()
        await link.say(desktop(GONE))
        seen = service.link_of("desk-1")
        assert seen is not None
        await until(lambda: seen.trouble is not None)
    await machine.until_gone()
    await until_noted(service, 1)
    assert [(each[0], each[2]) for each in await troubles(service)] == [
        ("offline", True),
        ("no_input", False),
    ]
    await service.request("DELETE", "/v1/machines/desk-1")
    await service.new_machine()
    assert await troubles(service) == []


async def test_few_are_kept_and_none_for_ever(service: Service) -> None:
    machine = await service.new_machine()
    store = TroubleStore(service.server.services.operation.database)

    async def noted(number: int, ago: timedelta) -> None:
        over = now() - ago
        trouble = StoredTrouble("no_input", f"{number} " + "x" * 500, over, over)
        await store.add(service.organization_id, "desk-1", trouble)

    await noted(0, KEPT + timedelta(minutes=1))
    assert await troubles(service) == []
    async with machine.connected(GREETING):
        await machine.until_live()
    await machine.until_gone()
    async with machine.connected(hello(sequence=1)):
        await machine.until_live()
        assert len(await stored(service)) == 1
    for number in range(1, MOST + 3):
        await noted(number, timedelta(minutes=1))
    found = await stored(service)
    assert len(found) == MOST
    assert found[0]["reason"].startswith("3 x")
    assert max(len(each["reason"]) for each in found) == 200


async def test_link_that_gives_way_was_not_away_unless_the_next_one_failed(
    service: Service,
) -> None:
    machine = await service.new_machine()
    machines = service.server.services.operation.database.collection("machines")
    for number, (ago, told) in enumerate(((timedelta(0), 0), (timedelta(hours=1), 1))):
        ended = {"connected_at": now(), "disconnected_at": now() - ago, "reason": TAKEN_OVER}
        wanted = {"organization_id": service.organization_id, "machine_id": "desk-1"}
        await machines.update_one(wanted, {"$set": ended})
        async with machine.connected(hello(sequence=number)):
            await machine.until_live()
            assert len(await troubles(service)) == told
        await machine.until_gone()


async def stored(service: Service) -> list[Any]:
    machines = service.server.services.operation.database.collection("machines")
    wanted = {"organization_id": service.organization_id, "machine_id": "desk-1"}
    return list((await machines.find_one(wanted) or {})["troubles"])
