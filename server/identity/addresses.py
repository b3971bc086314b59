"""From which address a request comes, also where reverse proxies pass it on."""

from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from tornado.httputil import HTTPServerRequest

from server.settings import Network

FORWARDED_FOR = "X-Forwarded-For"
SITE_BITS = 64
"""Whoever has an IPv6 address has the whole /64 network around it, as a rule."""


def caller_address(request: HTTPServerRequest, trusted_proxies: Sequence[Network]) -> str:
    """The caller's address, or for IPv6 its /64 network.

    What ``X-Forwarded-For`` says is believed as far as trusted proxies said it: each has put the
    address of whoever asked it at the end.  The right-most address that is none of theirs is the
    caller's, and all that stands before it could be invented.
    """
    address = request.remote_ip or ""
    if trusted_proxies:
        for passed_on in reversed(request.headers.get(FORWARDED_FOR, "").split(",")):
            known, before = _parsed(address), passed_on.strip()
            if known is None or not any(known in network for network in trusted_proxies):
                break
            if _parsed(before) is None:
                break
            address = before
    return _site(address)


@lru_cache(1024)
def _parsed(address: str) -> IPv4Address | IPv6Address | None:
    try:
        parsed = ip_address(address)
    except ValueError:
        return None
    # A socket for both families shows an IPv4 address as one of IPv6, such as ::ffff:192.0.2.7.
    return getattr(parsed, "ipv4_mapped", None) or parsed


@lru_cache(1024)
def _site(address: str) -> str:
    parsed = _parsed(address)
    if isinstance(parsed, IPv6Address):
        return str(ip_network((parsed, SITE_BITS), strict=False))
    return str(parsed or address)
