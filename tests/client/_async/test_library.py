"""Trajectories, workflows and pictures by the library, on a real server."""

from datetime import UTC, datetime
from uuid import UUID

import httpx
import pytest

import farhand
from farhand import AsyncFarhand
from schemas.resources.tokens import Scope
from tests.pictures import picture
from tests.service import Service

PNG = picture("png")
SIZE = {"width": 1280, "height": 800}
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
STEP = {"operation": "mouse.click", "body": {"x": 1, "y": 2}}


async def test_trajectory_is_made_read_changed_and_deleted(service: Service) -> None:
    async with AsyncFarhand(service.url, service.token) as client:
        workflow = await client.workflows.create("Invoices")
        assert (await client.workflows.change(workflow.id, description="d")).description == "d"
        made = await client.trajectories.create(
            workflow.id, [STEP], dimensions=SIZE, name="Monday", run_id=UUID(int=1)
        )
        assert (await client.trajectories.get(made.id)).trajectory_data == [STEP]
        assert (await client.trajectories.latest(workflow.id)).id == made.id
        await client.trajectories.change(made.id, is_generated=False)
        assert (await client.trajectories.add_steps(made.id, [STEP])).step_count == 2
        await client.trajectories.change(made.id, is_generated=True)
        changed = await client.trajectories.change(made.id, is_approved=True, name=None)
        assert (changed.is_approved, changed.name) == (True, None)
        copy = await client.trajectories.duplicate(made.id, name="Tuesday")
        page = await client.trajectories.page(
            limit=1, created_at_from=datetime(2026, 1, 1, tzinfo=UTC)
        )
        assert (len(page.items), page.total) == (1, 2)
        found = [each.id async for each in client.trajectories.list(workflow_id=workflow.id)]
        assert {*found} == {made.id, copy.id}
        with pytest.raises(farhand.InUse):
            await client.workflows.delete(workflow.id)
        for each in found:
            await client.trajectories.delete(each)
        await client.workflows.delete(workflow.id)
        with pytest.raises(farhand.NotFound):
            await client.workflows.get(workflow.id)
        assert [each async for each in client.workflows.list()] == []


async def test_steps_are_edited_and_what_came_of_it_is_reviewed(service: Service) -> None:
    typed = {"operation": "keyboard.type", "body": {"text": "4711"}}
    approver = await service.new_token(Scope.TRAJECTORIES_APPROVE)
    async with (
        AsyncFarhand(service.url, service.token) as client,
        AsyncFarhand(service.url, approver) as other,
    ):
        schema = {"order": {"type": "integer", "example": "4711"}}
        workflow = await client.workflows.create("Orders", input_schema=schema)
        assert (workflow.input_schema or {})["order"].type == "integer"
        made = await client.trajectories.create(workflow.id, [STEP, typed], dimensions=SIZE)
        assert made.review.state == "open"
        wait = {"operation": "wait", "body": {"seconds": 1}}
        assert (await client.trajectories.add_steps(made.id, [wait], before=1)).step_count == 3
        parameter = {"name": "order", "text": "4711"}
        changed = await client.trajectories.change_step(made.id, 3, parameter=parameter, name="N")
        assert changed.step["body"] == {"text": "{{order}}"}
        assert await client.trajectories.step(made.id, 3) == changed
        head = await client.trajectories.remove_step(made.id, 1)
        steps = [each async for each in client.trajectories.steps(made.id)]
        assert [(each.number, each.cannot_run) for each in steps] == [(1, None), (2, None)]
        with pytest.raises(farhand.Forbidden):
            await client.trajectories.review(
                made.id, "approve", content_hash=head.content_hash or ""
            )
        with pytest.raises(farhand.WrongState):
            await other.trajectories.review(made.id, "approve", content_hash="0" * 64)
        after = await other.trajectories.review(
            made.id, "approve", content_hash=head.content_hash or "", comment="Fine."
        )
        assert (after.review.state, after.review.comment, after.is_approved) == (
            *("approved", "Fine."),
            True,
        )


async def test_step_is_removed_once_however_often_it_is_tried() -> None:
    keys: list[str | None] = []

    def answer(request: httpx.Request) -> httpx.Response:
        keys.append(request.headers.get("Idempotency-Key"))
        if len(keys) < 3:
            raise httpx.ReadError("gone")
        return httpx.Response(404, json={"type": "/problems/not-found", "title": "", "detail": ""},
                              headers={"Content-Type": "application/problem+json"})  # fmt: skip

    transport = httpx.MockTransport(answer)
    async with AsyncFarhand("http://farhand", "fh_t", transport=transport) as client:
        with pytest.raises(farhand.FarhandError):
            await client.trajectories.remove_step(UUID(int=1), 1)
    assert len(set(keys)) == 1
    assert keys[0]


async def test_picture_is_kept_once(service: Service) -> None:
    async with AsyncFarhand(service.url, service.token) as client:
        kept = await client.pictures.add(PNG)
        assert (await client.pictures.add(PNG)).id == kept.id
        assert await client.pictures.get(kept.id) == PNG
        await client.pictures.delete(kept.id)
        with pytest.raises(farhand.NotFound):
            await client.pictures.get(kept.id)
        with pytest.raises(ValueError, match="PNG or JPEG"):
            await client.pictures.add(b"GIF89a")
