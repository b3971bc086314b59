from hashlib import sha256

import pytest

from server.api.trajectories.pictures import MAX_PICTURE_BYTES
from tests.service import Reply, Service

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
