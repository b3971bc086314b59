"""Bytes to and from a VNC server, in TLS where that was agreed on; one reads, any may write."""

import contextlib
import socket
import ssl
import threading
from pathlib import Path

CHUNK_BYTES = 256 * 1024
STUCK_SECONDS = 20.0
"""How long a server may take none of what is sent to it."""

_ANONYMOUS = "AECDH:ADH:@SECLEVEL=0"


class Channel:
    """One TCP connection.  Everything may raise OSError, of which ssl.SSLError is one."""

    def __init__(self, host: str, port: int, seconds: float) -> None:
        self._host = host
        self._socket = socket.create_connection((host, port), seconds)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._tls: _Tls | None = None
        self._writing = threading.Lock()

    def set_timeout(self, seconds: float) -> None:
        """How long each of the next calls may take; TimeoutError after that."""
        self._socket.settimeout(seconds)

    def start_tls(self, *, verified: bool, ca_file: Path | None) -> None:
        """Begin TLS, as the client."""
        tls = _Tls(_context(verified=verified, ca_file=ca_file), self._host)
        while not tls.shake_hands():
            self._socket.sendall(tls.take_outgoing())
            tls.give(self._receive())
        self._socket.sendall(tls.take_outgoing())
        self._tls = tls

    def receive(self) -> bytes:
        """What came next; empty at the end."""
        if self._tls is None:
            return self._socket.recv(CHUNK_BYTES)
        while True:
            if data := self._tls.decrypted():
                return data
            received = self._socket.recv(CHUNK_BYTES)
            if not received:
                return b""
            self._tls.give(received)

    def send(self, data: bytes) -> None:
        """Send all of it, in one piece."""
        with self._writing:
            self._socket.sendall(data if self._tls is None else self._tls.encrypted(data))

    def end(self) -> None:
        """Wake whoever receives; for any thread."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Let go of it; for who receives, and twice."""
        self.end()
        self._socket.close()

    def _receive(self) -> bytes:
        received = self._socket.recv(CHUNK_BYTES)
        if not received:
            raise ConnectionError("it ended the connection")
        return received


class _Tls:
    """TLS without a socket: OpenSSL's own must not be read and written at the same time."""

    def __init__(self, context: ssl.SSLContext, host: str) -> None:
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)
        self._lock = threading.Lock()

    def shake_hands(self) -> bool:
        """Go on with the handshake; whether it is done."""
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            return False
        return True

    def give(self, data: bytes) -> None:
        with self._lock:
            self._incoming.write(data)

    def take_outgoing(self) -> bytes:
        return self._outgoing.read()

    def decrypted(self) -> bytes:
        """What can be read by now."""
        data = bytearray()
        with self._lock, contextlib.suppress(ssl.SSLWantReadError, ssl.SSLZeroReturnError):
            while part := self._tls.read(CHUNK_BYTES):
                data += part
        return bytes(data)

    def encrypted(self, data: bytes) -> bytes:
        with self._lock:
            self._tls.write(data)
            return self._outgoing.read()


def _context(*, verified: bool, ca_file: Path | None) -> ssl.SSLContext:
    if verified:
        return ssl.create_default_context(cafile=ca_file)
    # Without a certificate on either side, which TLS 1.3 has no way for.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(_ANONYMOUS)
    return context
