"""Lists of machines by HTTP: filtered, sorted, counted, and never older than what was answered."""

from datetime import UTC, datetime, timedelta
from time import monotonic
from types import SimpleNamespace
from typing import Any

import pytest
from bson import Int64

from schemas.link.close_codes import CloseCode
from schemas.link.messages import DesktopChanged
from server import versions
from server.errors import StoreUnavailable
from server.fleet.lists import lists
from server.store.machines import rows
from server.store.machines.documents import existing, noted
from server.store.machines.machines import MachineStore
from server.store.machines.rows import MachineRowStore
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Collection
from tests.desktop_states import DARK, GONE, GREETING, OFF, YES, desktop
from tests.service import Service, until


async def listed(service: Service, query: str = "") -> list[str]:
    reply = await service.get(f"/v1/machines?{query}")
    assert reply.status == 200, reply.body
    ids = [each["id"] for each in reply.json["items"]]
    assert reply.json["total"] == len(ids)
    return ids


async def filled(service: Service) -> Any:
    """Five machines that have never connected; the pool that two of them are in."""
    pool = (await service.post("/v1/pools", {"name": "Berlin Mitte"})).json
    for machine_id, more in {
        "till-10": {"name": "Till 10", "tags": ["till"], "pool_ids": [pool["id"]]},
        "till-9": {"name": "till 9", "tags": ["till", "spare"], "pool_ids": [pool["id"]]},
        "desk": {"name": "Straße", "tags": ["spare"]},
        "other": {},
    }.items():
        assert (await service.post("/v1/machines", {"id": machine_id, **more})).status == 201
    return pool


async def test_list_is_filtered_searched_and_sorted(service: Service) -> None:
    pool = await filled(service)
    everything = ["desk", "other", "till-10", "till-9"]
    assert await listed(service) == everything
    assert await listed(service, "sort=-id") == everything[::-1]
    assert await listed(service, "sort=name") == ["other", "desk", "till-9", "till-10"]
    assert await listed(service, "sort=created_at") == ["till-10", "till-9", "desk", "other"]
    assert await listed(service, "pool=Berlin%20Mitte") == ["till-10", "till-9"]
    assert await listed(service, f"pool={pool['id']}&tag=spare") == ["till-9"]
    assert await listed(service, "tag=till,spare&sort=-name") == ["till-10", "till-9", "desk"]
    assert await listed(service, "search=STRASSE%20spare") == ["desk"]
    assert await listed(service, "search=never%20till-1") == ["till-10"]
    assert await listed(service, "tag=&search=&pool=null") == everything
    assert await listed(service, "version=0.1.0") == []


def pool_of(pool: Any) -> dict[str, Any]:
    return {name: pool[name] for name in ("id", "name")}


async def test_page_and_counts_are_of_all_that_fits(service: Service) -> None:
    pool = await filled(service)
    await service.request("PATCH", "/v1/machines/till-9", {"paused": True})
    page = (await service.get("/v1/machines?tag=till&state=paused&counts=true")).json
    assert ([each["id"] for each in page["items"]], page["total"]) == (["till-9"], 1)
    counts = {"online": 0, "offline": 1, "paused": 1, "no_input": 0, "not_set_up": 1}
    assert page["counts"] == {**counts, "in_trouble": 0, "fine": 1, "outdated": 0}
    # Of all filters but its own each.
    assert page["tags"] == [{"tag": each, "machines": 1} for each in ("spare", "till")]
    assert page["pools"] == [{**pool_of(pool), "machines": 1}]
    page = (await service.get("/v1/machines?pool=Berlin%20Mitte&tag=none&counts=true")).json
    assert [(each["tag"], each["machines"]) for each in page["tags"]] == [
        *(("till", 2), ("spare", 1), ("none", 0)),
    ]
    assert page["pools"] == [{**pool_of(pool), "machines": 0}]
    page = (await service.get("/v1/machines?skip=1&limit=1&sort=name")).json
    assert ([each["id"] for each in page["items"]], page["total"]) == (["desk"], 4)
    assert not {"counts", "tags", "pools"} & page.keys()


@pytest.mark.parametrize(
    ("query", "loc", "kind"),
    [
        ("pool=Potsdam", ["query", "pool"], "no_pool"),
        ("state=broken", ["query", "state"], "machine_state"),
        ("sort=reason", ["query", "sort"], "literal_error"),
        ("search=" + "+".join("abcdefghijk"), ["query", "search"], "too_many_words"),
        (
            "tag=" + ",".join(str(each) for each in range(101)),
            ["query", "tag"],
            "too_many_values",
        ),
        ("tag=" + "x" * 10_001, ["query", "tag"], "string_too_long"),
        ("counts=yes", ["query", "counts"], "bool_parsing"),
    ],
)
async def test_wrong_question_is_422(
    service: Service, query: str, loc: list[str], kind: str
) -> None:
    assert (await service.get(f"/v1/machines?{query}")).faults == [(loc, kind)]


async def test_pool_of_another_organization_is_none(service: Service) -> None:
    other = await service.elsewhere()
    pool = (await other.post("/v1/pools", {"name": "theirs"})).json
    for named in ("theirs", pool["id"]):
        assert (await service.get(f"/v1/machines?pool={named}")).status == 422


async def test_list_knows_what_links_say(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    await service.new_machine("new")
    async with service.joined(GREETING) as (machine, link):
        await machine.until_live()
        assert await listed(service, "state=online") == ["desk-1"]
        assert await listed(service, "search=connected%20desk") == ["desk-1"]
        for change, query in (
            (desktop(GONE), "state=no_input&search=display%20gone"),
            (desktop(YES, DARK), "state=online&search=cannot%20seen"),
        ):
            await link.say(change)
            await until_said(service, change)
            assert await listed(service, query) == ["desk-1"]
            # In trouble, so it stands above what is not set up, and would below what is fine.
            assert await listed(service, "sort=state") == ["desk-1", "new"]
        for change in (desktop(YES, OFF), desktop()):
            await link.say(change)
            await until_said(service, change)
            assert await listed(service, "state=online&search=connected") == ["desk-1"]
        assert await listed(service, "outdated=true") == []
        assert await listed(service, "outdated=false") == ["desk-1", "new"]
        with monkeypatch.context() as patch:
            patch.setattr(versions, "VERSION", "99.0.0")
            versions.is_outdated.cache_clear()
            assert await listed(service, "outdated=true") == ["desk-1"]
            assert await listed(service, "outdated=false") == ["new"]
            assert (await service.get("/v1/machines/desk-1")).json["outdated"]
        versions.is_outdated.cache_clear()
        assert await listed(service, f"version=0.9,{GREETING.client_version}") == ["desk-1"]
    await machine.until_gone()
    assert await listed(service, "state=offline&sort=-state") == ["new", "desk-1"]
    assert await listed(service, "state=not_set_up") == ["new"]
    registry = service.server.services.machines.registry
    assert not registry.troubled[service.organization_id] | registry.linked[service.organization_id]


async def test_link_whose_end_is_not_noted_yet_is_none(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def late(*_: object) -> None:
        """The database is slow."""

    async with service.joined(GREETING) as (machine, _):
        monkeypatch.setattr(MachineStore, "end_link", late)
        await machine.until_live()
        assert await listed(service, "state=online") == ["desk-1"]
    await machine.until_closed()
    assert await listed(service, "state=offline&search=last%20link") == ["desk-1"]
    assert (await service.get("/v1/machines/desk-1")).json["state"] == "offline"


async def until_said(service: Service, change: DesktopChanged) -> None:
    link = service.link_of("desk-1")
    assert link is not None
    await until(lambda: link.desktop.screen == change.screen)
    await until(lambda: (link.availability.no_input is None) == change.input.available)


async def test_link_that_is_being_closed_is_offline_at_once(service: Service) -> None:
    async with service.joined(GREETING) as (machine, _):
        live = await machine.until_live()
        assert await listed(service, "state=online") == ["desk-1"]
        await service.request("PATCH", "/v1/machines/desk-1", {"paused": True})
        assert await listed(service, "state=paused&search=administrator") == ["desk-1"]
        await service.request("PATCH", "/v1/machines/desk-1", {"paused": False})
        assert await listed(service, "state=online") == ["desk-1"]
        registry = service.server.services.machines.registry
        assert not registry.troubled[service.organization_id]
        live.close(CloseCode.SERVER_ERROR, "in the midst of it")
        assert registry.troubled[service.organization_id] == {"desk-1"}
        assert await listed(service, "state=offline") == ["desk-1"]


async def test_list_shows_whatever_was_answered_before(service: Service) -> None:
    await filled(service)
    assert len(await listed(service)) == 4
    await service.request("PATCH", "/v1/machines/other", {"tags": ["till"], "name": "Zoo"})
    assert await listed(service, "tag=till&sort=-name") == ["other", "till-10", "till-9"]
    await service.request("DELETE", "/v1/machines/other")
    assert await listed(service, "tag=till") == ["till-10", "till-9"]
    await service.post("/v1/machines", {"id": "other"})
    assert await listed(service, "search=other") == ["other"]
    pool = (await service.get("/v1/pools")).json["items"][0]
    await service.request("PATCH", f"/v1/pools/{pool['id']}", {"name": "Spree"})
    assert await listed(service, "pool=Spree") == ["till-10", "till-9"]


async def test_what_did_not_change_is_not_read_again(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    await filled(service)
    await listed(service)
    read: list[list[str]] = []
    some = MachineRowStore.some

    async def counted(self: Any, organization_id: Any, ids: Any, take: Any) -> None:
        read.append(sorted(ids))
        await some(self, organization_id, ids, take)

    monkeypatch.setattr(MachineRowStore, "some", counted)
    await listed(service)
    await service.request("PATCH", "/v1/machines/other", {"name": "new"})
    await service.request("DELETE", "/v1/machines/desk")
    await listed(service)
    await listed(service)
    assert read == [[], ["desk", "other"], []]


async def test_what_changed_while_nobody_looked_is_seen(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    await filled(service)
    monkeypatch.setattr(rows, "_AT_ONCE", 3)
    await listed(service)
    await service.request("PATCH", "/v1/machines/other", {"name": "Zoo"})
    await service.request("DELETE", "/v1/machines/desk")
    hours = monotonic() + 7200
    monkeypatch.setattr(lists, "time", SimpleNamespace(monotonic=lambda: hours))
    assert await listed(service, "sort=-name") == ["other", "till-10", "till-9"]


def collection(service: Service) -> Collection:
    return service.server.services.operation.database.collection("machines")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Lists' own clock, which goes on only where a test says so."""
    own = SimpleNamespace(seconds=monotonic())
    monkeypatch.setattr(lists, "time", SimpleNamespace(monotonic=lambda: own.seconds))
    return own


@pytest.fixture
def changes_read(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The machines whose changes were read, of each list but the first."""
    read: list[list[str]] = []
    changes = MachineRowStore.changes

    async def noted(self: Any, organization_id: Any, since: Any) -> Any:
        found = await changes(self, organization_id, since)
        read.append(sorted(found))
        return found

    monkeypatch.setattr(MachineRowStore, "changes", noted)
    return read


async def test_changes_that_were_seen_are_not_read_each_time(
    service: Service, clock: SimpleNamespace, changes_read: list[list[str]]
) -> None:
    await filled(service)
    everything = await listed(service)
    # All have changed, a minute ago.
    machines, minute = collection(service), timedelta(seconds=60)
    async for each in machines.find({"organization_id": service.organization_id}):
        change = {"$set": {"changed_at": each["changed_at"] - minute}}
        await machines.update_one({"_id": each["_id"]}, change)
    for name in ("Zoo", "Ark"):
        await service.request("PATCH", "/v1/machines/other", {"name": name})
        assert await listed(service, f"search={name}") == ["other"]
    assert changes_read[-1] == ["other"]
    clock.seconds += lists.LOOK_BACK_SECONDS
    await listed(service)
    assert changes_read[-1] == everything


async def test_change_that_is_committed_late_is_seen(
    service: Service, clock: SimpleNamespace
) -> None:
    await filled(service)
    await listed(service)
    database = service.server.services.operation.database
    async with await database.session() as session, session.start_transaction():
        await collection(service).update_one(
            existing(service.organization_id, "other"),
            noted({"$set": {"name": "Zoo"}}),
            session=session,
        )
        # Others are marked after it, and seen before it is there.
        await service.request("PATCH", "/v1/machines/desk", {"name": "Bank"})
        assert await listed(service, "search=bank") == ["desk"]
        clock.seconds += rows.SOON.total_seconds() + 1
        assert await listed(service, "search=zoo") == []
    clock.seconds += lists.LOOK_BACK_SECONDS
    assert await listed(service, "search=zoo") == ["other"]


async def test_change_that_comes_a_little_late_is_seen_at_once(
    service: Service, clock: SimpleNamespace
) -> None:
    await filled(service)
    await listed(service)
    await service.request("PATCH", "/v1/machines/desk", {"name": "Bank"})
    assert await listed(service, "search=bank") == ["desk"]
    desk = await collection(service).find_one(existing(service.organization_id, "desk"))
    assert desk is not None
    change = {"name": "Zoo", "changed_at": desk["changed_at"] - rows.SOON / 2, "change_id": 1}
    own = existing(service.organization_id, "other")
    await collection(service).update_one(own, {"$set": change})
    assert await listed(service, "search=zoo") == ["other"]


async def test_change_by_a_member_whose_clock_is_behind_is_seen_at_once(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    await filled(service)
    await listed(service)
    # No second clock can be had here: the other member, and its marks, are made by hand.
    monkeypatch.setattr(Database, "primary", ("another", 27017))
    behind = datetime.now(UTC) - timedelta(seconds=60)
    for number, name in enumerate(("Zoo", "Ark")):
        change = {"name": name, "changed_at": behind, "change_id": Int64(number)}
        await collection(service).update_one(
            existing(service.organization_id, "other"), {"$set": change}
        )
        assert await listed(service, f"search={name}") == ["other"]


async def test_first_list_that_fails_leaves_nothing_behind(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    await filled(service)
    read = MachineRowStore.all

    async def cut_off(self: Any, organization_id: Any, take: Any) -> None:
        await read(self, organization_id, take)
        raise StoreUnavailable

    monkeypatch.setattr(MachineRowStore, "all", cut_off)
    assert (await service.get("/v1/machines")).status == 503
    await service.request("DELETE", "/v1/machines/desk")
    monkeypatch.undo()
    assert await listed(service) == ["other", "till-10", "till-9"]


async def test_organizations_that_nobody_asked_for_lately_are_not_held(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "MOST_HELD", 4)
    monkeypatch.setattr(lists, "_MOST_FORGOTTEN", 0)
    other = await service.elsewhere()
    for each in (service, other):
        await filled(each)
    held = service.server.services.machines.fleet._lists._held
    await listed(service)
    await listed(other)
    assert [*held] == [other.organization_id]
    await other.request("DELETE", "/v1/machines/desk")
    await listed(other)
    assert set(held[other.organization_id].changes) == {"other", "till-10", "till-9"}
    assert len(await listed(service)) == 4
