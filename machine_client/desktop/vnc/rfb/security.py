"""How a client is let in: versions, security types, passwords, and where TLS begins."""

import re
import struct
from collections.abc import Callable, Generator
from dataclasses import dataclass

from machine_client.desktop.vnc.rfb.des import encrypt
from machine_client.desktop.vnc.rfb.parsing import AccessError, ProtocolError, StartTls, Step

PASSWORD_BYTES = 8
"""How much of a password the old check looks at; the rest changes nothing."""

MAX_REASON_BYTES = 4096

NONE, PASSWORD, VENCRYPT = 1, 2, 19
TLS_NONE, TLS_PASSWORD, X509_NONE, X509_PASSWORD = 257, 258, 260, 261

NAMES = {
    0: "invalid",
    NONE: "None",
    PASSWORD: "VNC password",
    5: "RA2",
    6: "RA2ne",
    16: "Tight",
    17: "Ultra",
    18: "TLS",
    VENCRYPT: "VeNCrypt",
    20: "SASL",
    21: "MD5",
    22: "xvp",
    30: "Apple Diffie-Hellman",
    33: "Apple 33",
    35: "Apple 35",
    36: "Apple 36",
    129: "RA2 256",
    256: "Plain",
    TLS_NONE: "TLSNone",
    TLS_PASSWORD: "TLSVnc",
    259: "TLSPlain",
    X509_NONE: "X509None",
    X509_PASSWORD: "X509Vnc",
    262: "X509Plain",
    263: "TLSSASL",
    264: "X509SASL",
}

Steps = Generator[Step, bytes, None]
Send = Callable[[bytes], None]


@dataclass(frozen=True, slots=True)
class Credentials:
    """What we can show: a password, or None."""

    password: bytes | None = None


@dataclass(frozen=True, slots=True)
class Version:
    """A version of the protocol, as both sides name it."""

    minor: int

    @property
    def greeting(self) -> bytes:
        """The line that says it."""
        return b"RFB 003.%03d\n" % self.minor


def agree_on_version(line: bytes) -> Version:
    """The version to speak with a server that begins so.  Raises ProtocolError."""
    said = re.fullmatch(rb"RFB ([0-9]{3})\.([0-9]{3})\n", line)
    if said is None:
        raise ProtocolError("it does not begin as a VNC server does")
    version = (int(said[1]), int(said[2]))
    if version < (3, 3):
        raise ProtocolError(f"it speaks version {version[0]}.{version[1]}, which is too old")
    # Others than these three were never published: what calls itself newer speaks 3.8 as well.
    return Version(8 if version >= (3, 8) else 7 if version == (3, 7) else 3)


def let_in(version: Version, credentials: Credentials, send: Send) -> Steps:
    """Come to terms with the server, up to where it takes our ClientInit."""
    kind = yield from (_told(credentials) if version.minor < 7 else _chosen(credentials, send))
    if kind == VENCRYPT:
        kind = yield from _vencrypt(credentials, send)
    with_password = kind in (PASSWORD, TLS_PASSWORD, X509_PASSWORD)
    if with_password:
        challenge = yield 16
        send(answer_to(challenge, credentials.password or b""))
    if with_password or version.minor >= 8 or kind > 255:
        yield from _result(version)


def answer_to(challenge: bytes, password: bytes) -> bytes:
    """What proves that we know a password: the challenge, encrypted with it."""
    padded = password[:PASSWORD_BYTES].ljust(PASSWORD_BYTES, b"\0")
    # The first who wrote this took the bits of each byte the other way round.
    key = bytes(int(f"{byte:08b}"[::-1], 2) for byte in padded)
    return encrypt(key, challenge[:8]) + encrypt(key, challenge[8:16])


def _wanted(credentials: Credentials) -> tuple[int, ...]:
    """The kinds that we know, the best first.

    TLS without a certificate keeps out who only listens; whoever stands in between can read all.
    """
    if credentials.password is None:
        return X509_NONE, TLS_NONE, VENCRYPT, NONE
    return X509_PASSWORD, X509_NONE, TLS_PASSWORD, TLS_NONE, VENCRYPT, PASSWORD, NONE


def _choose(offered: list[int], credentials: Credentials) -> int:
    for kind in _wanted(credentials):
        if kind in offered:
            return kind
    names = ", ".join(NAMES.get(kind, f"type {kind}") for kind in offered[:16])
    asks_for_password = {PASSWORD, TLS_PASSWORD, X509_PASSWORD} & set(offered)
    if credentials.password is None and asks_for_password:
        raise AccessError("it asks for a password: name a file with it by --vnc-password-file")
    raise AccessError(
        f"it offers the security {names or 'nothing'} alone, and this client knows None, VNC "
        "password, and VeNCrypt with either of them"
    )


def _told(credentials: Credentials) -> Generator[Step, bytes, int]:
    (kind,) = struct.unpack(">I", (yield 4))
    if kind == 0:
        yield from _refusal()
    # Version 3.3 has no others.
    return _choose([kind] if kind in (NONE, PASSWORD) else [], credentials)


def _chosen(credentials: Credentials, send: Send) -> Generator[Step, bytes, int]:
    (count,) = yield 1
    if count == 0:
        yield from _refusal()
    kind = _choose(list((yield count)), credentials)
    send(bytes([kind]))
    return kind


def _vencrypt(credentials: Credentials, send: Send) -> Generator[Step, bytes, int]:
    version = tuple((yield 2))
    if version < (0, 2):
        raise AccessError(f"it speaks version {version[0]}.{version[1]} of VeNCrypt, not 0.2")
    send(bytes((0, 2)))
    (refused,) = yield 1
    if refused:
        raise AccessError("it refuses version 0.2 of VeNCrypt")
    (count,) = yield 1
    kinds = struct.unpack(f">{count}I", (yield 4 * count))
    # Never again this one, and nothing that has no encryption around it.
    kind = _choose([each for each in kinds if each > 255], credentials)
    send(struct.pack(">I", kind))
    (accepted,) = yield 1
    if not accepted:
        raise AccessError(f"it refuses {NAMES[kind]}, which it had offered")
    yield StartTls(verified=kind in (X509_NONE, X509_PASSWORD))
    return kind


def _result(version: Version) -> Steps:
    (result,) = struct.unpack(">I", (yield 4))
    if result == 0:
        return
    if version.minor >= 8:
        yield from _refusal()
    raise AccessError("it does not let us in: is the password right?")


def _refusal() -> Steps:
    """Raise AccessError with the reason that the server gives."""
    (length,) = struct.unpack(">I", (yield 4))
    if length > MAX_REASON_BYTES:
        raise ProtocolError(f"it gives a reason of {length} bytes")
    reason = (yield length).decode("utf-8", "replace")
    shown = "".join(each if each.isprintable() else " " for each in reason)[:200].strip()
    raise AccessError(f"it does not let us in: {shown or 'it gives no reason'}")
