"""How the administrative commands find and hear a server."""

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from server.cli.client import PAGE, Api
from tests.client.scripted_server import answer, problem, scripted_server
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


def page(first: int, last: int, total: int) -> bytes:
    """A part of a list, of the things from one number to another."""
    items = [{"id": str(number)} for number in range(first, last)]
    return answer(200, {"items": items, "total": total, "skip": first, "limit": PAGE})


@pytest.mark.parametrize(("limit", "total"), [(None, PAGE + 500), (PAGE + 2, PAGE + 500)])
def test_list_is_one_answer_however_many_pages_it_has(limit: int | None, total: int) -> None:
    with scripted_server(page(0, PAGE, total), page(PAGE - 10, total, total)) as server:
        api = Api(server.url, "t", as_json=True)
        whole = api.call_list("/v1/things", {"name": "a b&c"}, limit)
    wanted = limit or total
    assert [item["id"] for item in whole["items"]] == [str(each) for each in range(wanted)]
    assert (whole["total"], whole["skip"], whole["limit"]) == (total, 0, wanted)
    assert {parse_qs(urlsplit(each.path).query)["name"][0] for each in server.asked} == {"a b&c"}


def test_request_is_sent_once_and_by_no_proxy() -> None:
    with scripted_server(problem("storage-unavailable", 503)) as server:
        command = ("machine", "list", "--url", server.url, "--token", "t")
        result = run(*command, http_proxy="http://127.0.0.1:1")
    assert result.exit_code == 1
    assert result.stderr == "Error: storage-unavailable: storage-unavailable in detail\n"
    assert len(server.asked) == 1


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


@pytest.mark.parametrize(
    "said",
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
def test_answer_of_another_kind_of_server_is_no_traceback(said: bytes) -> None:
    with scripted_server(said) as server:
        result = run("machine", "list", "--url", server.url, "--token", "t")
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit), result.exception
    assert result.stderr.startswith("Error: ")
    assert len(result.stderr.strip().splitlines()) == 1
