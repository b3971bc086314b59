"""Reviews over HTTP: who approves what, and what ends an approval."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest

from schemas.resources.tokens import Scope
from schemas.resources.trajectories import TrajectoryHead
from tests.server.api.trajectories.requests import created, names, patched, path_of
from tests.service import Reply, Service

OPEN = {"state": "open", "by": None, "at": None, "comment": None, "content_hash": None}
CLICK = {"operation": "mouse.click", "body": {"x": 1, "y": 2}}
TYPE = {"operation": "keyboard.type", "body": {"text": "Order 4711"}}
EVERYTHING = (Scope.TRAJECTORIES_READ, Scope.TRAJECTORIES_WRITE, Scope.TRAJECTORIES_APPROVE)


async def reviewer(service: Service, **fields: Any) -> str:
    """A token of somebody who may read and approve."""
    return await service.new_token(*EVERYTHING, **fields)


async def reviewed(
    service: Service, path: str, token: str, decision: str = "approve", **fields: Any
) -> Reply:
    """The answer to a decision about what is there now."""
    seen = (await service.get(path)).json["content_hash"]
    body = {"decision": decision, "content_hash": seen, **fields}
    return await service.post(f"{path}/review", body, token=token)


async def approved(service: Service, **fields: Any) -> tuple[str, str]:
    """The address of an approved trajectory of two steps, and the token that approved it."""
    path = path_of(await created(service, trajectory_data=[CLICK, TYPE], **fields))
    token = await reviewer(service)
    reply = await reviewed(service, path, token)
    assert reply.status == 200, reply.body
    return path, token


async def is_runnable(service: Service, path: str) -> bool:
    """Whether what is there now is what was approved; a list says the same of it."""
    one = (await service.get(path)).json
    query = f"is_generated=null&steps=false&workflow_id={one['workflow_id']}"
    listed = (await service.get(f"/v1/trajectories?{query}")).json["items"]
    (same,) = [each for each in listed if each["id"] == one["id"]]
    names = ("review", "content_hash", "is_approved", "has_been_approved")
    assert [same[name] for name in names] == [one[name] for name in names]
    review = one["review"]
    is_approved: bool = review["state"] == "approved"
    assert not is_approved or (review["content_hash"] == one["content_hash"] and one["is_approved"])
    return is_approved


async def test_approval_says_who_when_and_why(service: Service) -> None:
    before = await created(service)
    token, user = await service.new_token(*EVERYTHING, user_id=uuid4()), None
    reply = await reviewed(service, path_of(before), token, comment="Looked at each step.")
    TrajectoryHead.model_validate(reply.json)
    review = reply.json["review"]
    user = review["by"].pop("user_id")
    # Decided between what was there before and what is stored now.
    decided_at = review.pop("at")
    assert before.json["updated_at"] <= decided_at <= reply.json["updated_at"]
    assert review == {
        "state": "approved",
        "by": {"token_id": review["by"]["token_id"], "token_name": "of a test"},
        "comment": "Looked at each step.",
        "content_hash": before.json["content_hash"],
    }
    assert user is not None
    assert (reply.json["is_approved"], reply.json["has_been_approved"]) == (True, True)
    assert reply.headers["ETag"] == (await service.get(path_of(before))).headers["ETag"]
    audit = (await service.get("/v1/audit")).json["items"][0]
    assert (audit["action"], audit["note"]) == ("trajectory.approved", "Looked at each step.")


async def test_decisions_follow_each_other(service: Service) -> None:
    path, token = await approved(service)
    states = []
    for decision in ("reject", "approve", "withdraw"):
        reply = await reviewed(service, path, token, decision)
        states.append((reply.json["review"]["state"], reply.json["is_approved"]))
    assert states == [("rejected", False), ("approved", True), ("withdrawn", False)]
    again = await reviewed(service, path, token, "withdraw")
    assert (again.status, again.problem) == (409, "wrong-state")
    assert (await service.get(path)).json["has_been_approved"]


async def test_list_of_a_state_has_what_is_in_it_now(service: Service) -> None:
    path, token = await approved(service, name="Reviewed")
    await created(service, name="Reviewed by nobody")
    listed: dict[tuple[str, str], list[list[str | None]]] = {}
    for decision in ("reject", "approve", "withdraw"):
        await reviewed(service, path, token, decision)
        for state in ("open", "approved", "rejected", "withdrawn", "pending"):
            for search in ({}, {"search": "review"}, {"sort": "name"}):
                found = await names(service, review_state=state, **search)
                listed.setdefault((decision, state), []).append(found)
    one, other = [["Reviewed"]] * 3, [["Reviewed by nobody"]] * 3
    assert {key: found for key, found in listed.items() if any(found)} == {
        **{(decision, "open"): other for decision in ("reject", "approve", "withdraw")},
        ("reject", "rejected"): one,
        ("approve", "approved"): one,
        ("withdraw", "withdrawn"): one,
    }


async def test_list_of_an_author_has_what_they_made_or_changed(service: Service) -> None:
    user = uuid4()
    token = await service.new_token(*EVERYTHING, user_id=user)
    path = path_of(await created(service, name="Changed", trajectory_data=[CLICK, TYPE]))
    await created(service, name="Made")
    maker = (await service.get("/v1/audit")).json["items"][0]["token_id"]

    async def listed(author: object) -> list[list[str | None]]:
        """What the lists of an author have, on each way to them; each of them once."""
        ways: tuple[dict[str, str], ...] = ({}, {"search": "-"}, {"sort": "-name"})
        found = [await names(service, author_id=author, **each) for each in ways]
        return [found[0]] if found == [found[0]] * len(ways) else found

    await service.server.services.library.indexer.index_all()
    assert (await listed(maker), await listed(user)) == ([["Made", "Changed"]], [[]])
    assert (await service.request("DELETE", f"{path}/steps/2", token=token)).status == 200
    assert (await listed(maker), await listed(user)) == ([["Made", "Changed"]], [["Changed"]])
    narrowed = await names(service, author_id=user, is_generated="null", workflow_id=uuid4())
    assert narrowed == []
    total = await service.get(f"/v1/trajectories?author_id={user}&limit=1")
    assert total.json["total"] == 1


async def test_rejection_stays_while_it_is_corrected(service: Service) -> None:
    path = path_of(await created(service, trajectory_data=[CLICK, TYPE]))
    rejected = await reviewed(service, path, await reviewer(service), "reject", comment="Step 2.")
    assert (await service.request("DELETE", f"{path}/steps/2")).status == 200
    after = (await service.get(path)).json
    assert after["review"] == rejected.json["review"]
    assert after["review"]["content_hash"] != after["content_hash"]


async def test_what_is_pending_has_no_content_to_review(service: Service) -> None:
    path = path_of(await created(service, is_generated=False))
    assert (await service.get(path)).json["content_hash"] is None
    body = {"decision": "approve", "content_hash": "0" * 64}
    reply = await service.post(f"{path}/review", body)
    assert (reply.status, reply.problem) == (409, "wrong-state")
    assert "pending generation" in reply.json["detail"]


@pytest.mark.parametrize(
    ("body", "loc", "kind"),
    [
        ({"decision": "maybe"}, ["body", "decision"], "literal_error"),
        ({"content_hash": "0" * 63}, ["body", "content_hash"], "string_pattern_mismatch"),
        ({"comment": ""}, ["body", "comment"], "string_too_short"),
        ({"comment": "x" * 2001}, ["body", "comment"], "string_too_long"),
        ({"state": "approved"}, ["body", "state"], "extra_forbidden"),
    ],
)
async def test_wrong_decision_is_422(
    service: Service, body: dict[str, Any], loc: list[str], kind: str
) -> None:
    path = path_of(await created(service))
    right = {"decision": "approve", "content_hash": "0" * 64}
    reply = await service.post(f"{path}/review", {**right, **body})
    assert reply.faults[0][0] == loc
    assert reply.json["detail"][0]["type"] == kind


# The matrix: no way leads to content that can be run and that nobody else has approved.

CLAIMS = {
    "is_approved": True,
    "has_been_approved": True,
    "is_main": True,
    "content_hash": "0" * 64,
    "review": {**OPEN, "state": "approved", "content_hash": "0" * 64},
}


async def test_what_is_made_as_approved_is_kept_so_and_cannot_be_run(service: Service) -> None:
    made = await created(service, **CLAIMS)
    assert made.json["is_approved"]
    assert made.json["has_been_approved"]
    assert made.json["review"] == OPEN
    assert not await is_runnable(service, path_of(made))
    for flag in (False, True):
        await patched(service, path_of(made), {"is_approved": flag})
        assert not await is_runnable(service, path_of(made))


async def test_export_of_what_is_approved_is_imported_without_its_review(service: Service) -> None:
    path, _ = await approved(service)
    line = (await service.get("/v1/trajectories/export")).body
    assert b'"state":"approved"' in line
    headers = {"Content-Type": "application/x-ndjson"}
    for there in (service, await service.elsewhere()):
        if there is service:
            await service.request("DELETE", path)
        reply = await there.post("/v1/trajectories/import", content=line, headers=headers)
        assert reply.json["outcome"] == "imported"
        after = (await there.get(path)).json
        assert (after["is_approved"], after["review"]) == (True, OPEN)
        assert after["content_hash"].encode() in line
        assert not await is_runnable(there, path)


async def test_copy_of_what_is_approved_is_not_and_keeps_its_authors(service: Service) -> None:
    author, copier = await reviewer(service), await reviewer(service)
    made = await service.post(
        "/v1/trajectories",
        {**created_body(), "trajectory_data": [CLICK]},
        token=author,
    )
    copy = path_of(await service.post(f"{path_of(made)}/duplicate", {}, token=copier))
    assert not await is_runnable(service, copy)
    for token in (author, copier):
        assert (await reviewed(service, copy, token)).status == 403
    assert (await reviewed(service, copy, await reviewer(service))).status == 200
    again = path_of(await service.post(f"{copy}/duplicate", {}, token=await reviewer(service)))
    assert not await is_runnable(service, again)
    assert (await reviewed(service, again, author)).status == 403


def created_body() -> dict[str, Any]:
    return {"workflow_id": str(uuid4()), "dimensions": {"width": 1, "height": 1}}


EDITS: dict[str, tuple[str, str, Any]] = {
    "other dimensions": ("PATCH", "", {"dimensions": {"width": 7, "height": 7}}),
    "other values": ("PATCH", "", {"original_input_values": {"a": 1}}),
    "another workflow": ("PATCH", "", {"workflow_id": str(uuid4())}),
    "another workflow, as its main one": (
        *("PATCH", ""),
        {"workflow_id": str(uuid4()), "is_main": True, "is_approved": True},
    ),
    "other values, said to be approved": (
        *("PATCH", ""),
        {"original_input_values": {"a": 1}, "is_approved": True},
    ),
    "a step more": ("POST", "/steps", {"steps": [CLICK], "before": 1}),
    "a foreign step more": ("POST", "/steps", {"steps": [{"action": "click"}], "before": 2}),
    "a step less": ("DELETE", "/steps/1", None),
    "a name of a step": ("PATCH", "/steps/1", {"name": "Save"}),
    "another place": ("PATCH", "/steps/1", {"body": {"x": 7, "y": 7}}),
    "an expectation": ("PATCH", "/steps/1", {"expect": {"any": [{"still": 1}]}}),
    "a parameter": ("PATCH", "/steps/2", {"parameter": {"name": "order", "text": "4711"}}),
    "a secret": ("PATCH", "/steps/2", {"secret": "password"}),
    "the flag": ("PATCH", "", {"is_approved": False}),
    "pending again": ("PATCH", "", {"is_approved": False, "is_generated": False}),
}


@pytest.mark.parametrize("edit", EDITS)
async def test_whatever_changes_the_content_ends_the_approval(service: Service, edit: str) -> None:
    path, token = await approved(service)
    assert await is_runnable(service, path)
    method, below, body = EDITS[edit]
    editor = await reviewer(service)
    reply = await service.request(method, path + below, body, token=editor)
    assert reply.status == 200, reply.body
    assert not await is_runnable(service, path)
    after = (await service.get(path)).json
    assert after["review"]["state"] == "withdrawn"
    assert after["has_been_approved"]
    actions = [each["action"] for each in (await service.get("/v1/audit")).json["items"][:2]]
    assert "trajectory.approval_withdrawn" in actions
    if edit in ("the flag", "pending again"):
        return
    # Whoever changed it is an author of it, too; who approved it before may do so again.
    assert (await reviewed(service, path, editor)).status == 403
    assert (await reviewed(service, path, service.token)).status == 403
    assert not await is_runnable(service, path)
    assert (await reviewed(service, path, token)).status == 200
    assert await is_runnable(service, path)


@pytest.mark.parametrize(
    ("method", "below", "body"),
    [
        ("PATCH", "", {"name": "n", "description": "d", "run_id": str(uuid4())}),
        ("PATCH", "", {"is_main": True}),
        ("PATCH", "", {"is_approved": True, "is_generated": True}),
        ("PATCH", "", {"dimensions": {"width": 1280, "height": 800}}),
        ("PATCH", "/steps/1", {"body": {"x": 1, "y": 2}}),
        ("PATCH", "/steps/1", {"name": None}),
    ],
)
async def test_what_leaves_the_content_leaves_the_approval(
    service: Service, method: str, below: str, body: Any
) -> None:
    path, _ = await approved(service)
    assert (await service.request(method, path + below, body)).status == 200
    assert await is_runnable(service, path)


async def test_content_that_comes_back_is_not_approved_again(service: Service) -> None:
    path, token = await approved(service)
    seen = (await service.get(path)).json["content_hash"]
    for values in ({"a": 1}, None):
        await patched(service, path, {"original_input_values": values})
    assert (await service.get(path)).json["content_hash"] == seen
    assert not await is_runnable(service, path)
    pending = {"is_generated": False}
    for change in (pending, {"is_generated": True, "is_approved": True}):
        await patched(service, path, change)
        assert not await is_runnable(service, path)
    # A retry under a key gets its first answer, and approves nothing anew.
    headers = {"Idempotency-Key": "k"}
    body = {"decision": "approve", "content_hash": seen}
    for expected in (True, False):
        reply = await service.post(f"{path}/review", body, token=token, headers=headers)
        assert reply.json["review"]["state"] == "approved"
        assert await is_runnable(service, path) == expected
        await patched(service, path, {"original_input_values": {"b": 1}})


async def test_steps_that_are_appended_are_their_senders(service: Service) -> None:
    path = path_of(await created(service, is_generated=False))
    editor = await reviewer(service)
    assert (await service.post(f"{path}/steps", {"steps": [CLICK]}, token=editor)).status == 200
    await patched(service, path, {"is_generated": True})
    assert (await reviewed(service, path, editor)).status == 403
    assert (await reviewed(service, path, await reviewer(service))).status == 200


async def test_who_may_approve(service: Service) -> None:
    user = uuid4()
    author = await service.new_token(*EVERYTHING, user_id=user)
    made = await service.post("/v1/trajectories", created_body() | {"trajectory_data": [CLICK]},
                              token=author)  # fmt: skip
    path = path_of(made)
    pool = (await service.post("/v1/pools", {"name": "p"})).json["id"]
    refused = {
        "its author": author,
        "the same user by another token": await service.new_token(*EVERYTHING, user_id=user),
        "who may only write": await service.new_token(Scope.TRAJECTORIES_WRITE),
        "whose machines are those of a pool": await reviewer(service, pool_ids=[pool]),
    }
    for who, token in refused.items():
        reply = await reviewed(service, path, token)
        assert (reply.status, reply.problem) == (403, "forbidden"), who
    elsewhere = await service.elsewhere()
    assert (await reviewed(service, path, elsewhere.token)).status == 404
    assert not await is_runnable(service, path)
    # The same is refused to nobody who rejects it or takes an approval back.
    assert (await reviewed(service, path, author, "reject")).status == 200
    assert (await reviewed(service, path, await reviewer(service, user_id=uuid4()))).status == 200
    assert (await reviewed(service, path, author, "withdraw")).status == 200


async def test_token_that_an_author_has_made_for_nobody_else_approves_nothing(
    service: Service,
) -> None:
    author = await service.new_token(*EVERYTHING, Scope.TOKENS_WRITE, user_id=uuid4())
    created = created_body() | {"trajectory_data": [CLICK]}
    path = path_of(await service.post("/v1/trajectories", created, token=author))
    new = {"name": "own", "scopes": [each.value for each in EVERYTHING]}
    own = (await service.post("/v1/tokens", new, token=author)).json["token"]
    assert (await reviewed(service, path, own)).status == 403
    new["user_id"] = str(uuid4())
    colleague = (await service.post("/v1/tokens", new, token=author)).json["token"]
    assert (await reviewed(service, path, colleague)).status == 200


@pytest.mark.parametrize("way", ["made", "changed", "duplicated"])
async def test_what_a_token_for_nobody_else_does_its_user_did(service: Service, way: str) -> None:
    """Its user approves none of it, nor does another such token; who made both is no user."""
    user = await service.new_token(*EVERYTHING, Scope.TOKENS_WRITE, user_id=uuid4())

    async def made_by(maker: str, *more: Scope, **fields: Any) -> Any:
        scopes = [each.value for each in (*EVERYTHING, *more)]
        new = {"name": "made", "scopes": scopes, **fields}
        return (await service.post("/v1/tokens", new, token=maker)).json

    first = await made_by(user, Scope.TOKENS_WRITE)
    second, third = await made_by(first["token"]), await made_by(user)
    colleague = await made_by(user, user_id=str(uuid4()))
    stranger = await made_by(service.token)
    body = created_body() | {"trajectory_data": [CLICK]}
    writer, more = {"token": second["token"]}, {"steps": [TYPE], "before": 1}
    if way == "made":
        path = path_of(await service.post("/v1/trajectories", body, **writer))
    else:
        path = path_of(await service.post("/v1/trajectories", body, token=stranger["token"]))
    if way == "changed":
        assert (await service.post(f"{path}/steps", more, **writer)).status == 200
    if way == "duplicated":
        path = path_of(await service.post(f"{path}/duplicate", {}, **writer))
    # What was done stays done by whom it was, also where the tokens are good no more.
    for token in (second, first):
        path_of_token = f"/v1/tokens/{token['id']}"
        assert (await service.request("DELETE", path_of_token)).status == 204
    for token in (user, third["token"]):
        reply = await reviewed(service, path, token)
        assert (reply.status, reply.problem) == (403, "forbidden")
    others = [colleague["token"], (await made_by(service.token))["token"]]
    for token in others:
        assert (await reviewed(service, path, token)).status == 200


@pytest.mark.parametrize("settings", [{"authors_may_approve": True}])
async def test_authors_approve_where_the_setting_allows_it_and_still_only_what_they_saw(
    service: Service,
) -> None:
    path = path_of(await created(service))
    stale = {"decision": "approve", "content_hash": "0" * 64}
    assert (await service.post(f"{path}/review", stale)).status == 409
    assert (await reviewed(service, path, service.token)).status == 200
    assert await is_runnable(service, path)
    await patched(service, path, {"original_input_values": {"a": 1}})
    assert not await is_runnable(service, path)


async def test_approval_meets_an_edit_and_approves_nothing_that_was_not_seen(
    service: Service,
) -> None:
    token = await reviewer(service)
    outcomes = set()
    for number in range(12):
        path = path_of(await created(service, trajectory_data=[CLICK, TYPE]))
        seen = (await service.get(path)).json
        body = {"decision": "approve", "content_hash": seen["content_hash"]}
        edit = {"body": {"x": number, "y": 7}}
        decided, changed = await asyncio.gather(
            service.post(f"{path}/review", body, token=token),
            service.request("PATCH", f"{path}/steps/1", edit),
        )
        assert changed.status == 200
        assert not await is_runnable(service, path)
        outcomes.add(decided.status)
        if decided.status == 409:
            assert seen["content_hash"] not in decided.json["detail"]
    assert outcomes <= {200, 409}


async def test_version_and_content_that_were_seen_are_the_ones_that_are_approved(
    service: Service,
) -> None:
    before = await created(service)
    path, token = path_of(before), await reviewer(service)
    await patched(service, path, {"name": "n"})
    body = {"decision": "approve", "content_hash": before.json["content_hash"]}
    stale = {"If-Match": before.headers["ETag"]}
    reply = await service.post(f"{path}/review", body, token=token, headers=stale)
    assert (reply.status, reply.problem) == (412, "precondition-failed")
    assert (await service.post(f"{path}/review", body, token=token)).status == 200


async def test_main_trajectory_moves_between_approved_ones_and_only_one_is_it(
    service: Service,
) -> None:
    workflow = str(uuid4())
    first, _ = await approved(service, workflow_id=workflow, is_main=True)
    second, _ = await approved(service, workflow_id=workflow)
    await patched(service, second, {"is_main": True})
    mains = [(await service.get(path)).json["is_main"] for path in (first, second)]
    assert mains == [False, True]
    # Moved to another workflow it is not the main one there, unless that is said.
    there = str(uuid4())
    third, _ = await approved(service, workflow_id=there, is_main=True)
    moved = await patched(service, second, {"workflow_id": there})
    assert (moved.json["is_main"], moved.json["workflow_id"]) == (False, there)
    moved = await patched(service, first, {"workflow_id": there, "is_main": True})
    assert moved.json["is_main"]
    assert not (await service.get(third)).json["is_main"]
    page = (await service.get(f"/v1/trajectories?workflow_id={there}")).json
    assert page["total"] == 3
    assert (await service.get(f"/v1/trajectories?workflow_id={workflow}")).json["total"] == 0
