"""Help requests that nobody answers in time, as they are stored."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from schemas.resources.tokens import Scope
from server.store.help.requests import HelpStore
from tests.events import listening
from tests.server.api.test_help import answer, asked, waiting_for
from tests.service import Service
from tests.waiting import waited


async def test_request_ends_at_its_time_and_is_not_answered_later(service: Service) -> None:
    await service.new_machine()
    async with listening(service, "?types=help_ended") as told:
        lasting = await asked(service)
        short = await asked(service, timeout=1)
        waiting = waiting_for(service, short["id"])
        ended = (await told.next()).data
        assert (await waiting).json == ended
    assert (ended["id"], ended["state"], ended["answer"]) == (short["id"], "timed_out", None)
    assert ended["ended_at"] >= ended["expires_at"]
    token = await service.new_token(Scope.HELP_ANSWER)
    late = await answer(service, short["id"], token=token)
    assert late.refusal == (409, "wrong-state")
    assert "nobody answered it in time" in late.json["detail"]
    assert (await service.get(f"/v1/help/{lasting['id']}")).json["state"] == "open"

    async def noted() -> list[Any] | None:
        """What the audit has of it, which is told of first."""
        return (await service.get("/v1/audit?action=help.timed_out")).json["items"] or None

    entries = await waited(noted)
    assert [each["target"] for each in entries] == [short["id"]]


async def test_what_has_ended_is_kept_for_a_time(service: Service) -> None:
    await service.new_machine()
    made = await asked(service)
    database = service.server.services.operation.database
    assert (await service.post(f"/v1/help/{made['id']}/withdraw")).status == 200
    kept = await database.collection("help_requests").find_one({"_id": UUID(made["id"])})
    assert kept is not None
    assert kept["delete_at"] - kept["ended_at"] == timedelta(days=30)
    store = HelpStore(database)
    asked_again = await store.get(service.organization_id, kept["_id"])
    assert asked_again is not None
    # One that has ended is not ended again, whichever way.
    assert await store.answer(asked_again, "done", None, "somebody") is None
    assert await store.withdraw(asked_again) is None
    assert await store.end_if_over(asked_again) is None
