"""The synchronous client is what is made of the asynchronous one."""

import pytest

from client import unasync


def test_made_files_are_as_they_would_be_made_now() -> None:
    made = dict(unasync.made())
    there = set((unasync.PACKAGE / "_sync").rglob("*.py"))
    assert set(made) == there
    for path, content in made.items():
        assert path.read_text() == content, f"{path.name}: run python client/unasync.py"


@pytest.mark.parametrize(
    ("source", "made"),
    [
        ("async with AsyncConnection() as c:", "with Connection() as c:"),
        ("async for piece in response.aiter_raw():", "for piece in response.iter_raw():"),
        ("await self.aclose()", "self.close()"),
        ("httpx.AsyncClient(x: httpx.AsyncBaseTransport)", "httpx.Client(x: httpx.BaseTransport)"),
        ("class AsyncTool(BetaAsyncTool):", "class Tool(BetaTool):"),
        ("from farhand._async.lists import AsyncLists", "from farhand._sync.lists import Lists"),
    ],
)
def test_words_are_replaced(source: str, made: str) -> None:
    assert unasync.synchronous(source) == unasync.NOTE + made
