"""Lists that change while they are read, page by page."""

from typing import Any

import pytest

from farhand import Farhand
from farhand._sync import lists
from tests.client.scripted_server import answer, scripted_server


def organization(number: int) -> dict[str, Any]:
    return {
        "id": f"00000000-0000-4000-8000-{number:012}",
        "name": str(number),
        "created_at": "2026-11-21T09:30:00.120Z",
        "parent_id": None,
    }


def page(*numbers: int, total: int) -> bytes:
    items = [organization(number) for number in numbers]
    return answer(200, {"items": items, "total": total, "skip": 0, "limit": 4})


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "PAGE", 4)
    monkeypatch.setattr(lists, "OVERLAP", 1)


def names(*pages: bytes, limit: int | None = None) -> tuple[list[str], list[str]]:
    """What a list of these pages has, and which were asked for."""
    with scripted_server(*pages) as server, Farhand(server.url, "fh_t") as client:
        found = [each.name for each in client.organizations.list(limit=limit)]
        return found, [each.path.partition("?")[2] for each in server.asked]


def test_pages_are_one_list() -> None:
    found, asked = names(page(1, 2, 3, 4, total=6), page(4, 5, 6, total=6))
    assert found == ["1", "2", "3", "4", "5", "6"]
    assert asked == ["limit=4&skip=0", "limit=4&skip=3"]


def test_what_moves_between_two_pages_is_neither_missed_nor_repeated() -> None:
    # Before the second page 9 came, which moves all on, and then 2 went, which draws them back.
    assert names(page(1, 2, 3, 4, total=6), page(3, 4, 5, 6, total=7), page(5, 6, total=7))[0] == [
        *("1", "2", "3", "4", "5", "6")
    ]


def test_no_more_is_read_than_is_wanted() -> None:
    assert names(page(1, 2, total=6), limit=2) == (["1", "2"], ["limit=2&skip=0"])


def test_empty_list() -> None:
    assert names(page(total=0))[0] == []
