"""Why a handshake failed: which hop it was, and what would mend it, for a person who looks.

`machine_client.link.failures` says it in a few words, for the log of a client that tries again.
"""

import ssl
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from urllib.parse import urljoin, urlsplit

from websockets.exceptions import InvalidProxyStatus, InvalidStatus, ProxyError
from websockets.http11 import Response

from machine_client.doctor.finding import Finding, fault
from machine_client.link.failures import (
    MisconfiguredError,
    foreign,
    place_of,
    problem_in,
    reason_to_retry,
    status_of,
    without_credentials,
)
from schemas.http import problems
from schemas.http.problems import Problem

# https://docs.openssl.org/master/man3/X509_STORE_CTX_get_error/
_NOT_YET_VALID, _EXPIRED = 9, 10
_WRONG_NAME, _WRONG_ADDRESS = 62, 64

_REDIRECTS = frozenset({300, 301, 302, 303, 307, 308})
_UNREACHED = frozenset({502, 503, 504})


@dataclass(frozen=True)
class Hops:
    """Where the handshake went: to a server's address, by its host and port, and by which proxy."""

    server: str
    host: str
    port: int
    proxy: str | None

    @property
    def is_encrypted(self) -> bool:
        return urlsplit(self.server).scheme in ("https", "wss")

    @property
    def destination(self) -> str:
        return f"{self.host} port {self.port}"


def explained(error: Exception, hops: Hops) -> Finding:
    """What failed with this error.  Raises the error itself where it is a mistake of ours."""
    match error:
        case InvalidStatus(response=response):
            return _answer(response, hops)
        case InvalidProxyStatus(response=response):
            return fault("proxy", _proxys_answer(response, hops))
        case ProxyError():
            kind = urlsplit(hops.proxy or "").scheme
            return fault(
                "proxy",
                f"{_reason(error)}; look whether {_proxy(hops)} is a proxy of the kind {kind}, "
                f"takes this user and password, and may reach {hops.destination}",
            )
        case ssl.SSLCertVerificationError():
            return fault("certificate", _certificates_fault(error, hops))
        case ssl.SSLError():
            return fault(
                "TLS",
                f"{_reason(error)}; look whether {hops.destination} speaks TLS 1.2 or later, and "
                "whether something between takes it apart",
            )
        case TimeoutError() if error.errno is None:
            through = f", through {_proxy(hops)}," if hops.proxy else ""
            return fault(
                "server",
                f"{hops.destination}{through} takes the connection and then says nothing: it "
                "hangs, or is no web server; look at the server, its reverse proxy, and the port",
            )
        case _:
            return fault(
                "server", f"{_reason(error)}; look whether --server {hops.server} is right"
            )


def _answer(response: Response, hops: Hops) -> Finding:
    """What an HTTP answer in the place of the handshake says."""
    if (problem := problem_in(response)) is not None:
        return _servers_own(problem)
    status = response.status_code
    said = f"what answered is no Farhand server: {status_of(response)}"
    location = response.headers.get("Location")
    if status in _REDIRECTS and location is not None:
        return _redirect(said, location, hops)
    if status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
        return fault("proxy", f"{said}; a proxy on the way wants a password: use --proxy")
    if status in _UNREACHED:
        return fault(
            "reverse proxy",
            f"{said}; a proxy in front does not reach farhand serve: look whether it runs, and "
            "farhand doctor on its host",
        )
    if status == HTTPStatus.NOT_FOUND:
        return fault(
            "server",
            f"{said}; look at the path and the port of --server, and where the reverse proxy "
            "passes that path on to",
        )
    if status == HTTPStatus.UPGRADE_REQUIRED:
        return _without_upgrade(said)
    if status < 300 or status in (401, 403, 451, 511):
        return fault(
            "portal",
            f"{said}; a portal, a login page or a filter answers in the server's place: sign in to "
            f"it in a browser, or have it let {hops.destination} through without",
        )
    return fault("server", f"{said}; look whether --server {hops.server} is right")


def _servers_own(problem: Problem) -> Finding:
    """What Farhand itself says: then all hops to it are well."""
    detail = foreign(problem.detail).rstrip(".")
    said = f"HTTP {problem.status}: {detail}"
    match problem.type:
        case problems.UNAUTHENTICATED.reference:
            return fault(
                "token",
                f"the server refused it ({said}); look whether it is whole and of this server, or "
                "make a new one there: farhand token create --name NAME --machine ID",
            )
        case problems.FORBIDDEN.reference:
            return fault(
                "token",
                f"the server knows it, but it is not a machine's ({said}); make one for a machine "
                "there: farhand machine add ID, or farhand token create --name NAME --machine ID",
            )
        case problems.WEBSOCKET_REQUIRED.reference:
            return _without_upgrade(said)
        case _:
            return fault(
                "server",
                f"it is reached, and says {said}; farhand doctor on its host looks closer",
            )


def _without_upgrade(said: str) -> Finding:
    return fault(
        "reverse proxy",
        f"the request came without its header Upgrade ({said}): a proxy in front of the server "
        "must pass websockets on; for nginx, config/nginx.conf has the lines",
    )


def _redirect(said: str, location: str, hops: Hops) -> Finding:
    """A redirect within the server's host is its address written otherwise; any other is not."""
    there = f"{said}, a redirect to {place_of(location)}"
    try:
        to = urlsplit(urljoin(hops.server, location))
        is_encryption_only = (
            to.hostname == hops.host and to.scheme == "https" and not hops.is_encrypted
        )
    except ValueError:
        is_encryption_only = False
    if is_encryption_only:
        return fault("TLS", f"{there}; the token follows none: give the https address as --server")
    return fault(
        "portal",
        f"{there}; a login page or a portal stands before the server, and the token follows none: "
        f"sign in to it in a browser, have it let {hops.destination} through without, or give "
        "--server the address that needs no redirect",
    )


def _proxys_answer(response: Response, hops: Hops) -> str:
    said = f"{_proxy(hops)} answered {status_of(response)}"
    status = response.status_code
    if status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
        if urlsplit(hops.proxy or "").username is None:
            return f"{said}: it wants a user and a password: --proxy http://USER:PASSWORD@HOST:PORT"
        return (
            f"{said}: it does not take this user and password; correct them in --proxy, or in the "
            "environment"
        )
    if status in _UNREACHED:
        return (
            f"{said}: it does not reach {hops.destination}; look whether --server is right, and "
            "whether the proxy knows that name and may go there"
        )
    return (
        f"{said}: it forbids connections to {hops.destination}; have its administrator allow them, "
        "or serve Farhand on port 443, which proxies let through most often"
    )


def _certificates_fault(error: ssl.SSLCertVerificationError, hops: Hops) -> str:
    said = f"{hops.destination}: {foreign(error.verify_message)}"
    match error.verify_code:
        case code if code in (_WRONG_NAME, _WRONG_ADDRESS):
            return (
                f"{said}; give --server a name that the certificate has, or the server a "
                f"certificate for {hops.host}"
            )
        case code if code in (_NOT_YET_VALID, _EXPIRED):
            return (
                f"{said}; have the server's certificate renewed, unless this desktop's clock is "
                f"wrong, which says {datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
            )
        case _:
            return (
                f"{said}; where the server, or a proxy between, has its certificate from an "
                "authority of your own, --ca-file FILE names that one"
            )


def _proxy(hops: Hops) -> str:
    return f"the proxy {without_credentials(hops.proxy or '')}"


def _reason(error: Exception) -> str:
    try:
        return reason_to_retry(error)
    except MisconfiguredError as wrong:
        return str(wrong)
