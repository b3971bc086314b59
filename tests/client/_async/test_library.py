"""Trajectories, workflows and pictures by the library, on a real server."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

import farhand
from farhand import AsyncFarhand
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
