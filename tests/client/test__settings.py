"""The server's address and the token, given or from the environment."""

import ssl

import pytest

from farhand._settings import server_of, system_trust


def test_what_is_given_comes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FARHAND_URL", "https://elsewhere")
    monkeypatch.setenv("FARHAND_TOKEN", "fh_other\n")
    given = server_of("http://127.0.0.1:8600/below/", "fh_secret")
    assert (given.url, given.token) == ("http://127.0.0.1:8600/below", "fh_secret")
    assert "fh_secret" not in repr(given)
    assert server_of(None, None).headers["Authorization"] == "Bearer fh_other"


@pytest.mark.parametrize(
    "url",
    [
        *("nonsense", "ftp://host", "http://", "http://host:port", "http://host:65536"),
        *("http://[", "http://me:secret@host", "http://host/?x=1"),
    ],
)
def test_address_that_is_none_is_told(url: str) -> None:
    with pytest.raises(ValueError, match="is no server's address"):
        server_of(url, "fh_token")


@pytest.mark.parametrize("token", ["t\r\nX-Evil: 1", "t€", "a b"])
def test_token_that_cannot_be_sent_is_not_shown(token: str) -> None:
    with pytest.raises(ValueError, match="characters that no token has") as caught:
        server_of("http://host", token)
    assert token not in str(caught.value)


@pytest.mark.parametrize(("url", "token"), [(None, "t"), ("http://host", None), ("", "t")])
def test_what_is_missing_is_named(
    url: str | None, token: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FARHAND_URL", raising=False)
    monkeypatch.delenv("FARHAND_TOKEN", raising=False)
    with pytest.raises(ValueError, match=r"or set FARHAND_(URL|TOKEN)"):
        server_of(url, token)


def test_certificates_are_checked() -> None:
    assert system_trust(is_needed=True).verify_mode is ssl.CERT_REQUIRED
    assert system_trust(is_needed=False).verify_mode is ssl.CERT_REQUIRED
