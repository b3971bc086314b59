"""Encryption and passwords, with a real server, and with a certificate that is nobody's."""

import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from machine_client.desktop.base import InjectionUnavailable
from machine_client.desktop.vnc.address import VncServer
from machine_client.desktop.vnc.connection import VncConnection
from machine_client.desktop.vnc.rfb import client_messages as ours
from machine_client.desktop.vnc.rfb.des import encrypt
from tests.desktop import program
from tests.machine_client.desktop.vnc.xvnc import xvnc

PASSWORD = b"secret"
_FILE_KEY = bytes.fromhex("e84ad660c4721ae0")
"""What every VNC server has its password file encrypted with."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for "localhost", its key, and the password, as the server and as we read it."""
    directory = tmp_path_factory.mktemp("vnc")
    subprocess.run(
        [
            *(program("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"),
            *("-keyout", "key.pem", "-out", "certificate.pem"),
        ],
        cwd=directory,
        check=True,
        capture_output=True,
    )
    (directory / "passwd").write_bytes(encrypt(_FILE_KEY, PASSWORD.ljust(8, b"\0")))
    (directory / "password").write_bytes(PASSWORD + b"\n")
    (directory / "wrong").write_bytes(b"Secret\n")
    return directory


def server(files: Path, *kinds: str) -> Iterator[int]:
    certificate = ("-X509Cert", str(files / "certificate.pem"), "-X509Key", str(files / "key.pem"))
    password = ("-PasswordFile", str(files / "passwd"))
    with xvnc("-SecurityTypes", ",".join(kinds), *certificate, *password) as (_, port, _):
        yield port


@pytest.fixture(scope="module")
def with_certificate(files: Path) -> Iterator[int]:
    yield from server(files, "X509Vnc", "VncAuth")


def opens(host: str, port: int, password: Path | None, ca_file: Path | None = None) -> bool:
    """Whether keys and pixels go through, in both directions."""
    address = VncServer(host, port, password, ca_file)
    with closing(VncConnection(address, (ours.RAW,), told=False)) as connection:
        connection.send(ours.key_event(0x61, down=False) * 5000)
        connection.confirm()
        connection.ask_for_pixels(everything=True)
        connection.confirm()
        return connection._channel._tls is not None


def test_certificate_is_checked_and_the_password_goes_within(
    with_certificate: int, files: Path
) -> None:
    certificate, password = files / "certificate.pem", files / "password"
    assert opens("localhost", with_certificate, password, certificate)
    for host, ca_file in (("localhost", None), ("127.0.0.1", certificate)):
        with pytest.raises(InjectionUnavailable, match="cannot be trusted"):
            opens(host, with_certificate, password, ca_file)
    with pytest.raises(InjectionUnavailable, match=r"does not let us in: .*fail"):
        opens("localhost", with_certificate, files / "wrong", certificate)
    with pytest.raises(InjectionUnavailable, match="--vnc-password-file"):
        opens("localhost", with_certificate, None, certificate)


@pytest.mark.parametrize(("kind", "encrypts"), [("TLSVnc", True), ("VncAuth", False)])
def test_password_lets_in(files: Path, kind: str, encrypts: bool) -> None:
    for port in server(files, kind):
        assert opens("127.0.0.1", port, files / "password") == encrypts
        with pytest.raises(InjectionUnavailable, match="does not let us in"):
            opens("127.0.0.1", port, files / "wrong")


def test_tls_without_certificates_needs_no_password(files: Path) -> None:
    for port in server(files, "TLSNone"):
        assert opens("127.0.0.1", port, None)
