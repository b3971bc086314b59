import json
import os
from pathlib import Path

import pytest

from schemas.programs.settings import SettingsError
from server.data_directory import default_data_directory
from server.settings import MOST_DOCUMENTATION_BYTES, read_settings


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in tuple(os.environ):
        if name.startswith("FARHAND_"):
            monkeypatch.delenv(name)


def test_defaults_are_those_of_the_design() -> None:
    settings = read_settings(None, {})
    assert (settings.host, settings.port) == ("127.0.0.1", 8600)
    assert settings.input_timeout == 30
    assert settings.input_response == "representation"
    assert settings.unanswered_inputs == 64
    assert settings.idempotency_key_lifetime == 24 * 3600
    assert settings.heartbeat == 20
    assert settings.token_check <= 2
    assert settings.mongodb_uri is None
    assert settings.data_dir == default_data_directory()
    assert settings.data_dir.is_absolute()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("port", -1),
        ("port", 65536),
        ("input_timeout", 0),
        ("input_timeout", 3601),
        ("input_timeout", float("nan")),
        ("input_response", "none"),
        ("unanswered_inputs", 0),
        ("idempotency_key_lifetime", 59),
        ("heartbeat", 61),
        ("token_check", 2.1),
        ("mongodb_database", "a.b"),
        ("log_level", "INFO"),
    ],
)
def test_value_out_of_bounds_names_its_option(name: str, value: object) -> None:
    with pytest.raises(SettingsError) as caught:
        read_settings(None, {name: value})
    assert str(caught.value).startswith(f"--{name.replace('_', '-')}: ")
    assert "\n" not in str(caught.value)


def test_trusted_proxies_come_from_the_environment_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FARHAND_TRUSTED_PROXIES", " 10.0.0.0/8, 192.0.2.7 ,2001:db8::1,")
    settings = read_settings(None, {})
    assert [str(each) for each in settings.trusted_proxies] == [
        "10.0.0.0/8",
        "192.0.2.7/32",
        "2001:db8::1/128",
    ]


@pytest.mark.parametrize("wrong", ["10.0.0.0/33", "proxy.example", "10.0.0.0/8 10.1.0.1"])
def test_proxy_that_is_no_address_names_the_variable(
    monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    monkeypatch.setenv("FARHAND_TRUSTED_PROXIES", f"192.0.2.7,{wrong}")
    with pytest.raises(SettingsError, match=r"^FARHAND_TRUSTED_PROXIES: must be [^\n]*$"):
        read_settings(None, {})


def test_every_setting_can_stand_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "server.toml"
    defaults = read_settings(None, {}).model_dump(mode="json", exclude_none=True)
    lines = [f"{name} = {json.dumps(value)}" for name, value in defaults.items()]
    file.write_text("\n".join([*lines, "mongodb_uri = 'mongodb://x'"]))
    settings = read_settings(file, {})
    assert settings.mongodb_uri == "mongodb://x"
    assert settings.model_dump(mode="json", exclude_none=True, exclude={"mongodb_uri"}) == {
        name: value for name, value in defaults.items() if name != "mongodb_uri"
    }


def test_uri_is_read_from_its_file(tmp_path: Path) -> None:
    file = tmp_path / "uri"
    file.write_text("mongodb://u:hunter2@db/?replicaSet=rs0\n")
    settings = read_settings(None, {"mongodb_uri_file": file})
    assert settings.read_mongodb_uri() == "mongodb://u:hunter2@db/?replicaSet=rs0"
    assert "hunter2" not in repr(settings)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "cannot be read: No such file"),
        (b"hunter2", "must hold a mongodb:// URI alone"),
        (b"mongodb://hunter2\nmongodb://b", "in one line"),
        (b"mongodb://hunter2\xff", "it is not UTF-8"),
    ],
)
def test_file_without_a_uri_is_refused_and_not_repeated(
    tmp_path: Path, content: bytes | None, says: str
) -> None:
    file = tmp_path / "uri"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(SettingsError, match=says) as caught:
        read_settings(None, {"mongodb_uri_file": file})
    assert str(file) in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_uri_is_given_in_one_way(tmp_path: Path) -> None:
    file = tmp_path / "uri"
    file.write_text("mongodb://a")
    given = {"mongodb_uri": "mongodb://b", "mongodb_uri_file": file}
    with pytest.raises(SettingsError, match="not both"):
        read_settings(None, given)


def test_address_of_nats_is_read_from_its_file(tmp_path: Path) -> None:
    file = tmp_path / "nats"
    file.write_text("nats://u:hunter2@nats1,nats://u:hunter2@nats2\n")
    settings = read_settings(None, {"nats_url_file": file})
    assert settings.has_nats
    assert settings.read_nats_url() == "nats://u:hunter2@nats1,nats://u:hunter2@nats2"
    assert "hunter2" not in repr(settings)
    with pytest.raises(SettingsError, match="not both"):
        read_settings(None, {"nats_url_file": file, "nats_url": "nats://a"})


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "cannot be read: No such file"),
        ("hunter2", "must be nats://host:port"),
        ("nats://hunter2\nnats://b", "must be nats://host:port"),
    ],
)
def test_file_without_an_address_of_nats_is_refused_and_not_repeated(
    tmp_path: Path, content: str | None, says: str
) -> None:
    file = tmp_path / "nats"
    if content is not None:
        file.write_text(content)
    with pytest.raises(SettingsError, match=says) as caught:
        read_settings(None, {"nats_url_file": file})
    assert str(file) in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_path_may_begin_at_home() -> None:
    settings = read_settings(None, {"data_dir": "~/farhand"})
    assert settings.data_dir == Path.home() / "farhand"


def test_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for file, why in (
        (tmp_path / "none.toml", "No such file or directory"),
        (tmp_path, "Is a directory"),
    ):
        with pytest.raises(SettingsError) as caught:
            read_settings(file, {})
        assert str(caught.value) == f"{file}: {why}"


@pytest.mark.parametrize(
    "wrong",
    [
        *("", "nats", "http://nats:4222", "nats://", "nats://:4222", "nats://a:port"),
        *("nats://a:4222,b:4222", "nats://a:99999", "nats://a b:4222", "nats://u:secret@a:x"),
    ],
)
def test_address_of_nats_that_is_none_is_said_and_never_repeated(
    monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    monkeypatch.setenv("FARHAND_NATS_URL", wrong)
    with pytest.raises(SettingsError, match=r"^FARHAND_NATS_URL: must be [^\n]*$") as caught:
        read_settings(None, {})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "right", ["nats://a", "tls://u:p%40@a:4222", "nats://u:p@a:4222,nats://u:p@[::1]:4223"]
)
def test_addresses_of_nats_may_be_several(monkeypatch: pytest.MonkeyPatch, right: str) -> None:
    monkeypatch.setenv("FARHAND_NATS_URL", right)
    assert read_settings(None, {}).nats_url == right


def test_documentation_is_where_its_first_page_is(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("")
    assert read_settings(None, {"docs_dir": tmp_path}).docs_dir == tmp_path


def test_directory_without_the_documentation_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"has no index\.html: make docs builds"):
        read_settings(None, {"docs_dir": tmp_path})


def test_directory_with_much_else_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("")
    with (tmp_path / "film").open("wb") as film:
        film.truncate(MOST_DOCUMENTATION_BYTES + 1)
    with pytest.raises(SettingsError, match="has more in it than the documentation"):
        read_settings(None, {"docs_dir": tmp_path})
