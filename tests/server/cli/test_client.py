"""How the administrative commands find and hear a server."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest

from server.cli.client import OVERLAP, PAGE, Api
from tests.commandline import Served, run, run_process
from tests.processes import free_port


def test_options_come_before_the_environment_and_the_data_directory(served: Served) -> None:
    token = (served.data_dir / "admin-token").read_text().strip()
    found = run(
        *("machine", "list", "--url", served.url),
        FARHAND_URL="http://127.0.0.1:1",
        FARHAND_TOKEN=token,
    )
    assert found.exit_code == 0
    wrong = served.run("machine", "list", "--token", "fh_wrong")
    assert wrong.exit_code == 1
    assert "No valid token" in wrong.stderr


@pytest.mark.parametrize(
    "change",
    [
        lambda _there: None,
        lambda there: there.insert(0, -len(there)),
        lambda there: there.pop(0),
        lambda there: there.__delitem__(slice(0, OVERLAP)),
    ],
    ids=["still", "added", "removed", "several removed"],
)
def test_list_that_changes_between_its_pages_misses_and_repeats_nothing(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[list[int]], object]
) -> None:
    there = [*range(2 * PAGE + 1)]

    def call(_self: Api, _method: str, path: str) -> Any:
        query = parse_qs(urlsplit(path).query)
        skip, limit = int(query["skip"][0]), int(query["limit"][0])
        items = [{"id": str(each)} for each in there[skip : skip + limit]]
        answer = {"items": items, "total": len(there), "skip": skip, "limit": limit}
        change(there)
        return answer

    monkeypatch.setattr(Api, "call", call)
    whole = Api("http://x", "t", as_json=True).call_list("/v1/things")
    ids = [item["id"] for item in whole["items"]]
    assert len(ids) == len({*ids}) == whole["total"]
    assert {*ids} >= {str(each) for each in range(2 * PAGE + 1)}
    assert (whole["skip"], whole["limit"]) == (0, len(ids))


def test_no_more_of_a_list_is_read_than_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, str]] = []

    def call(_api: Api, _method: str, path: str) -> dict[str, Any]:
        query = dict(parse_qsl(urlsplit(path).query))
        asked.append(query)
        skip, limit = int(query["skip"]), int(query["limit"])
        # The list grows at its beginning: each page begins one earlier.
        begin = skip - len(asked) + 1
        items = [{"id": str(number)} for number in range(begin, min(begin + limit, 5000))]
        return {"items": items, "total": 5000, "skip": skip, "limit": limit}

    monkeypatch.setattr(Api, "call", call)
    api = Api("http://x", "t", as_json=True)
    for limit in (1, PAGE, PAGE + 1, 3 * PAGE):
        asked.clear()
        part = api.call_list("/v1/things", {"name": "a b&c"}, limit)
        assert [item["id"] for item in part["items"]] == [str(each) for each in range(limit)]
        assert (part["total"], part["skip"], part["limit"]) == (5000, 0, limit)
        assert {query["name"] for query in asked} == {"a b&c"}
        assert len(asked) <= limit // PAGE + 1


def test_url_may_end_with_a_slash(served: Served) -> None:
    assert served.run("machine", "list", "--url", served.url + "/").exit_code == 0


def test_missing_data_directory_says_what_to_give_instead(tmp_path: Path) -> None:
    result = run("machine", "list", FARHAND_DATA_DIR=str(tmp_path / "none"))
    assert result.exit_code == 2
    assert "--url or FARHAND_URL" in result.stderr
    result = run("machine", "list", "--url", "http://x", FARHAND_DATA_DIR=str(tmp_path))
    assert "--token or FARHAND_TOKEN" in result.stderr


def test_server_that_does_not_answer_is_exit_code_1() -> None:
    url = f"http://127.0.0.1:{free_port()}"
    result = run_process("machine", "list", "--url", url, "--token", "t")
    assert result.returncode == 1
    assert url in result.stderr
    assert "farhand serve" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("url", ["nonsense", "ftp://host", "http://", "http://host:port"])
def test_url_that_is_none_is_no_traceback(url: str) -> None:
    result = run("machine", "list", "--url", url, "--token", "t")
    assert result.exit_code in (1, 2)
    assert isinstance(result.exception, SystemExit)
    assert url in result.stderr


@pytest.mark.parametrize("token", ["t\r\nX-Evil: 1", "tök"])
def test_token_that_cannot_be_sent_is_no_traceback(served: Served, token: str) -> None:
    result = served.run("machine", "list", "--token", token)
    assert result.exit_code in (1, 2)
    assert isinstance(result.exception, SystemExit)


@contextmanager
def answering(answer: bytes) -> Iterator[str]:
    """A server that is not ours: gives one answer to whoever connects."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        thread.join(10)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n<html/>",
        b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 7\r\n\r\n<html/>",
        b"HTTP/1.1 422 No\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 404 No\r\nContent-Length: 4\r\n\r\nnull",
        b"HTTP/1.1 302 Found\r\nLocation: http://x/\r\nContent-Length: 0\r\n\r\n",
        b"SSH-2.0-OpenSSH\r\n",
        b"",
    ],
)
def test_answer_of_another_kind_of_server_is_no_traceback(answer: bytes) -> None:
    with answering(answer) as url:
        result = run("machine", "list", "--url", url, "--token", "t")
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit), result.exception
    assert result.stderr.startswith("Error: ")
    assert len(result.stderr.strip().splitlines()) == 1
