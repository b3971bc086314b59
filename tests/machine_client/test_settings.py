"""The machine client's settings: what is derived from them, and what is refused before a start."""

import os
from pathlib import Path
from typing import Any

import pytest

from machine_client.desktop.vnc.address import VncServer
from machine_client.settings import MachineSettings, read_machines
from schemas.programs.settings import SettingsError


def settings(**given: Any) -> MachineSettings:
    return read_machines(None, {"server": "https://a.example", **given})[""]


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in tuple(os.environ):
        if name.startswith("FARHAND_"):
            monkeypatch.delenv(name)


@pytest.mark.parametrize(
    ("server", "websocket"),
    [
        ("http://a.example:8600", "ws://a.example:8600/v1/machines/connect"),
        ("https://a.example", "wss://a.example/v1/machines/connect"),
        ("https://a.example/", "wss://a.example/v1/machines/connect"),
        ("wss://a.example/farhand/", "wss://a.example/farhand/v1/machines/connect"),
        ("http://[::1]:8600", "ws://[::1]:8600/v1/machines/connect"),
    ],
)
def test_link_is_made_under_the_servers_address(server: str, websocket: str) -> None:
    assert settings(server=server, token="t").websocket_url == websocket


@pytest.mark.parametrize(
    "server",
    [
        *("", "a.example", "ftp://a.example", "https://", "https://a.example?token=fh_1"),
        *("https://user:secret@a.example", "https://a.example/#x", "https://a.example:port"),
        *("https://a.example:70000", "https://a..example", "https://[::1", f"https://{'a' * 70}"),
    ],
)
def test_address_that_cannot_be_a_servers_is_refused_by_its_name(server: str) -> None:
    with pytest.raises(SettingsError, match=r"^--server: ") as refused:
        settings(server=server, token="t")
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize(
    "proxy",
    [
        *("proxy:3128", "ftp://proxy", "http://", "http://user@proxy", "http://proxy:port"),
        *("http://proxy/path", "http://proxy?x=1", "http://a..b"),
    ],
)
def test_address_that_cannot_be_a_proxys_is_refused_by_its_name(proxy: str) -> None:
    with pytest.raises(SettingsError, match=r"^--proxy: "):
        settings(token="t", proxy=proxy)


@pytest.mark.parametrize(
    "proxy", ["http://proxy:3128", "http://u:p%40@proxy", "socks5h://proxy", "https://proxy/"]
)
def test_proxies_address_is_taken(proxy: str) -> None:
    assert settings(token="t", proxy=proxy).proxy == proxy


def test_password_of_a_wrong_proxy_is_not_repeated() -> None:
    with pytest.raises(SettingsError) as refused:
        settings(token="t", proxy="http://user:hunter2@proxy:port")
    assert "hunter2" not in str(refused.value)


def test_certificates_that_are_not_there_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"^--ca-file: .*No such file"):
        settings(token="t", ca_file=tmp_path / "none.pem")


def test_file_without_certificates_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.pem").write_text("no certificate")
    with pytest.raises(SettingsError, match=r"^--ca-file: .*cannot be read as certificates"):
        settings(token="t", ca_file=tmp_path / "text.pem")


@pytest.mark.parametrize("given", [{}, {"token": "t", "token_file": "f"}])
def test_exactly_one_token_is_needed(given: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"^give the machine's token, or a token file"):
        settings(**given, state_dir=tmp_path)


@pytest.mark.parametrize(
    "given",
    [
        {"code": "c", "code_file": "f"},
        {"token": "t", "code": "c"},
        {"token": "t", "code_file": "f"},
    ],
)
def test_code_is_in_the_place_of_a_token(given: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="and not both"):
        settings(**given, state_dir=tmp_path)


def test_machine_that_has_joined_is_known_by_the_token_that_it_made(tmp_path: Path) -> None:
    new = settings(code="fhj_c", state_dir=tmp_path)
    assert not new.has_joined
    made = new.read_credentials()
    assert (made.code, new.has_joined) == ("fhj_c", False)
    made.joined()
    for later in (new, settings(state_dir=tmp_path)):
        assert later.has_joined
        assert (later.read_credentials().token, later.read_credentials().code) == (made.token, None)


def test_server_that_is_missing_is_said_with_every_way_to_give_it() -> None:
    with pytest.raises(SettingsError, match=r"^server is missing: give --server, FARHAND_M"):
        read_machines(None, {"token": "t"})


@pytest.mark.parametrize("heartbeat", ["0", "-1", "61", "soon", "nan", "inf"])
def test_heartbeat_out_of_bounds_is_refused_by_its_variable(
    monkeypatch: pytest.MonkeyPatch, heartbeat: str
) -> None:
    monkeypatch.setenv("FARHAND_MACHINE_HEARTBEAT", heartbeat)
    with pytest.raises(SettingsError, match=r"^FARHAND_MACHINE_HEARTBEAT: "):
        settings(token="t")


@pytest.mark.parametrize("seconds", ["0", "-1", "601", "never", "nan", "inf"])
def test_longest_delay_out_of_bounds_is_refused_by_its_variable(
    monkeypatch: pytest.MonkeyPatch, seconds: str
) -> None:
    monkeypatch.setenv("FARHAND_MACHINE_RECONNECT_LONGEST", seconds)
    with pytest.raises(SettingsError, match=r"^FARHAND_MACHINE_RECONNECT_LONGEST: "):
        settings(token="t")


def test_unknown_variable_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FARHAND_MACHINE_SERVR", "https://a.example")
    with pytest.raises(SettingsError, match="FARHAND_MACHINE_SERVR"):
        settings(token="t")


def test_unknown_key_of_the_file_is_refused_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "machine.toml"
    file.write_text('servr = "https://a.example"\n')
    with pytest.raises(SettingsError, match=r"machine\.toml: servr: unknown setting"):
        read_machines(file, {"server": "https://a.example", "token": "t"})


def test_command_line_comes_before_environment_before_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "machine.toml"
    file.write_text('server = "https://file"\ndisplay = ":1"\nproxy = "http://file"\n')
    monkeypatch.setenv("FARHAND_MACHINE_SERVER", "https://environment")
    monkeypatch.setenv("FARHAND_MACHINE_DISPLAY", ":2")
    read = read_machines(file, {"server": "https://line", "token": "t"})[""]
    assert (read.server, read.display, read.proxy) == ("https://line", ":2", "http://file")


def test_token_is_read_from_its_file_without_the_lines_end(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("fh_secret\n")
    assert settings(token_file=tmp_path / "token").read_credentials().token == "fh_secret"


@pytest.mark.parametrize("content", ["", "two words", "a\nb", "geheimnis-ü", "x" * 201])
def test_token_that_is_none_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "token").write_text(content)
    with pytest.raises(ValueError, match="one word of visible ASCII"):
        settings(token_file=tmp_path / "token").read_credentials()


def test_token_is_not_shown_where_settings_are() -> None:
    assert "fh_secret" not in repr(settings(token="fh_secret"))


def test_each_display_has_a_journal_of_its_own(tmp_path: Path) -> None:
    names = {
        settings(token="t", state_dir=tmp_path, display=display).journal_file
        for display in (None, ":0", ":1", "host:0", "/odd/../name")
    }
    assert len(names) == 5
    assert {name.parent for name in names} == {tmp_path}


def test_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for file, why in (
        (tmp_path / "none.toml", "No such file or directory"),
        (tmp_path, "Is a directory"),
    ):
        with pytest.raises(SettingsError) as caught:
            read_machines(file, {})
        assert str(caught.value) == f"{file}: {why}"


def listed(tmp_path: Path, content: str) -> Path:
    file = tmp_path / "machines.toml"
    file.write_text(content)
    return file


TWO = """
server = "https://a.example"
screen = false
[[machines]]
name = "left"
token = "l"
[[machines]]
name = "right"
token = "r"
screen = true
server = "https://b.example"
"""


def test_each_listed_machine_has_its_own_settings_and_the_common_ones(tmp_path: Path) -> None:
    read = read_machines(listed(tmp_path, TWO), {"heartbeat": 7})
    assert list(read) == ["left", "right"]
    left, right = read["left"], read["right"]
    assert (left.server, left.screen, left.heartbeat) == ("https://a.example", False, 7)
    assert (right.server, right.screen, right.heartbeat) == ("https://b.example", True, 7)
    assert (left.read_credentials().token, right.read_credentials().token) == ("l", "r")
    assert left.journal_file.parent == Path("~/.local/state/farhand-machine/left").expanduser()
    assert right.journal_file.parent.name == "right"
    below = read_machines(listed(tmp_path, 'state_dir = "/var/x"' + TWO), {})
    assert below["left"].state_dir == Path("/var/x/left")
    own = read_machines(listed(tmp_path, TWO + 'state_dir = "/var/own"'), {})
    assert own["right"].state_dir == Path("/var/own")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("machines = 7", "machines: must be a list of [[machines]], one at least"),
        ("machines = []", "machines: must be a list of [[machines]], one at least"),
        ("machines = [7]", "[[machines]] number 1: name: must be there"),
        ('machines = [{token = "t"}]', "[[machines]] number 1: name: must be there"),
        ('machines = [{name = "../x"}]', "[[machines]] number 1: name: must be there"),
        (TWO.replace("right", "left"), "[[machines]] number 2: name: left is another one's"),
        (TWO.replace('token = "r"', ""), "right: give the machine's token, or a token file"),
        (TWO + 'heartbeat = "soon"', "right: heartbeat: "),
        (TWO + "colour = 1", "right: colour: unknown setting"),
    ],
)
def test_mistake_in_a_list_says_whose_it_is(tmp_path: Path, content: str, said: str) -> None:
    with pytest.raises(SettingsError) as refused:
        read_machines(listed(tmp_path, content), {})
    assert said in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


def test_every_mistake_in_a_list_is_told_at_once(tmp_path: Path) -> None:
    content = TWO.replace('token = "l"', "heartbeat = 0") + "heartbeat = 0"
    with pytest.raises(SettingsError) as refused:
        read_machines(listed(tmp_path, content), {})
    lines = str(refused.value).splitlines()
    assert len([line for line in lines if ": left: " in line]) == 1
    assert len([line for line in lines if ": right: " in line]) == 1


def test_what_one_machine_alone_can_have_is_for_the_list_to_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FARHAND_MACHINE_DISPLAY", ":1")
    with pytest.raises(SettingsError) as refused:
        read_machines(listed(tmp_path, TWO), {"token_file": "x"})
    assert str(refused.value).startswith("--token-file, FARHAND_MACHINE_DISPLAY: belongs to one")


def test_two_machines_cannot_have_one_journal(tmp_path: Path) -> None:
    content = f'state_dir = "{tmp_path}"\n'
    with pytest.raises(SettingsError, match="left and right would have one journal"):
        read_machines(listed(tmp_path, TWO.replace('"l"', f'"l"\n{content}') + content), {})


def test_vnc_server_is_a_desktop_with_a_journal_of_its_own(tmp_path: Path) -> None:
    found = settings(token="t", vnc="[::1]:5901", vnc_password_file="~/vnc", state_dir=tmp_path)
    assert found.kind_of_desktop == "vnc"
    assert found.vnc_server == VncServer("::1", 5901, Path("~/vnc").expanduser(), None, 16)
    assert found.journal_file == tmp_path / "journalvnc-___1__5901.sqlite3"
    forced = settings(token="t", vnc="a:1", desktop="x11", state_dir=tmp_path)
    assert forced.kind_of_desktop == "x11"
    assert forced.journal_file == tmp_path / "journalsession.sqlite3"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"vnc": "localhost"}, "host and TCP port"),
        ({"vnc": "localhost:99999"}, "has a port"),
        ({"desktop": "vnc"}, "name the VNC server"),
    ],
)
def test_vnc_server_that_is_none_is_refused(given: dict[str, str], reason: str) -> None:
    with pytest.raises(SettingsError, match=reason):
        settings(token="t", **given)
