import json
from hashlib import sha256

import pytest

from schemas.resources.stored_pictures import PictureOutlook
from server.api.trajectories.pictures import MAX_PICTURE_BYTES
from server.store.times import now
from tests.kept_pictures import step_with
from tests.service import Reply, Service
from tests.trajectories import sent

PNG = b"\x89PNG\r\n\x1a\n" + b"p" * 100
JPEG = b"\xff\xd8\xff\xe0" + b"j" * 100


async def send(service: Service, content: bytes, media_type: str = "image/png") -> Reply:
    return await service.request(
        "POST", "/v1/pictures", headers={"Content-Type": media_type}, content=content
    )


@pytest.mark.parametrize(("content", "media_type"), [(PNG, "image/png"), (JPEG, "image/jpeg")])
async def test_picture_is_kept_once_and_comes_back(
    service: Service, content: bytes, media_type: str
) -> None:
    first, second = [await send(service, content, media_type) for _ in range(2)]
    assert (first.status, second.status, first.json) == (201, 200, second.json)
    assert first.json["id"] == sha256(content).hexdigest()
    assert (first.json["size"], first.json["media_type"]) == (len(content), media_type)
    found = await service.get(first.headers["Location"])
    assert (found.status, found.body) == (200, content)
    assert found.headers["Content-Type"] == media_type
    assert "immutable" in found.headers["Cache-Control"]
    assert found.headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in found.headers["Content-Security-Policy"]
    headers = {"If-None-Match": found.headers["ETag"]}
    again = await service.get(first.headers["Location"], headers=headers)
    assert (again.status, again.body) == (304, b"")


async def test_deleted_picture_and_another_organizations_are_404(service: Service) -> None:
    address = (await send(service, PNG)).headers["Location"]
    other = await service.elsewhere()
    for method in ("GET", "DELETE"):
        assert (await other.request(method, address)).refusal == (404, "not-found")
    assert (await service.request("DELETE", address)).status == 204
    assert (await service.get(address)).status == 404


@pytest.mark.parametrize(
    ("content", "media_type"),
    [(b"", "image/png"), (b"<script>", "image/png"), (JPEG, "image/png"), (PNG, "image/jpeg")],
)
async def test_what_is_no_such_picture_is_422(
    service: Service, content: bytes, media_type: str
) -> None:
    reply = await send(service, content, media_type)
    assert reply.faults == [(["body"], "picture_invalid")]


@pytest.mark.parametrize("media_type", ["image/svg+xml", "text/html", "application/json", ""])
async def test_other_media_type_is_415(service: Service, media_type: str) -> None:
    assert (await send(service, PNG, media_type)).refusal == (415, "unsupported-media-type")


async def test_too_large_picture_is_413(service: Service) -> None:
    assert (await send(service, PNG + bytes(MAX_PICTURE_BYTES))).refusal == (413, "body-too-large")


async def test_largest_picture_is_kept(service: Service) -> None:
    content = PNG.ljust(MAX_PICTURE_BYTES, b"x")
    kept = await send(service, content)
    assert kept.status == 201
    assert (await service.get(kept.headers["Location"])).body == content


async def test_address_that_names_no_picture_is_422(service: Service) -> None:
    ((place, _),) = (await service.get("/v1/pictures/none")).faults
    assert place == ["path", "picture_id"]


async def test_outlook_says_what_is_kept_and_whose_pictures_go_next(service: Service) -> None:
    picture = (await send(service, PNG)).json["id"]
    made = await service.post("/v1/trajectories", sent(trajectory_data=[step_with(picture)]))
    until = made.json["pictures_until"]
    assert until > made.json["updated_at"]
    soon = await service.get("/v1/pictures")
    PictureOutlook.model_validate(soon.json)
    assert (soon.json["items"], soon.json["total"], soon.json["bytes"]) == ([], 0, len(PNG))
    assert (soon.json["lifetime"], soon.json["most_bytes"]) == (90 * 86_400, 20 * 1024**3)
    (going,) = (await service.get(f"/v1/pictures?within={91 * 86_400}")).json["items"]
    assert going == {
        "id": made.json["id"],
        "name": None,
        "machine_id": None,
        "pictures_until": until,
    }
    other = await service.elsewhere()
    assert (await other.get(f"/v1/pictures?within={91 * 86_400}")).json["total"] == 0


@pytest.mark.parametrize("query", ["within=-1", "within=soon", "within=1.5", "limit=0", "days=7"])
async def test_outlook_that_is_asked_for_wrongly_is_422(service: Service, query: str) -> None:
    ((place, _),) = (await service.get(f"/v1/pictures?{query}")).faults
    assert place == ["query", query.partition("=")[0]]


async def test_steps_say_of_pictures_that_are_not_there_why(service: Service) -> None:
    picture = (await send(service, PNG)).json["id"]
    steps = [step_with(picture), step_with("0" * 64)]
    made = (await service.post("/v1/trajectories", sent(trajectory_data=steps))).json
    path = f"/v1/trajectories/{made['id']}"

    async def gone() -> list[str | None]:
        items = (await service.get(f"{path}/steps")).json["items"]
        assert [each["step"] for each in items] == steps
        return [each["pictures_gone"] for each in items]

    assert await gone() == [None, "missing"]
    await service.request("DELETE", f"/v1/pictures/{picture}")
    assert await gone() == ["missing", "missing"]
    database = service.server.services.operation.database
    past = {"$set": {"pictures_until": now()}}
    own = {"organization_id": service.organization_id}
    await database.collection("trajectories").update_one(own, past)
    tag = (await service.get(path)).headers["ETag"]
    # Where a node was stopped in the middle of its round.
    await database.collection("rounds").delete_many({})
    await service.server.services.library.keeping.round()
    assert await gone() == ["expired", "expired"]
    after = await service.get(path, headers={"If-None-Match": tag})
    assert after.status == 200
    assert after.json["pictures_until"] is None
    assert after.json["pictures_expired_at"] is not None
    # What is exported names them still, and an import takes that.
    line = (await service.get("/v1/trajectories/export")).body
    assert json.loads(line)["trajectory_data"] == steps
    other = await service.elsewhere()
    headers = {"Content-Type": "application/jsonl"}
    brought = await other.request("POST", "/v1/trajectories/import", headers=headers, content=line)
    assert json.loads(brought.body)["outcome"] == "imported"
