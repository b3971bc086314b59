"""Which addresses a webhook may lead to: those of the internet, and private ones that are allowed.

A name is looked up once for each try, and each of its addresses is checked: whoever connects is
given an address that was checked, never the name, so that nothing can change in between.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import Final

Network = IPv4Network | IPv6Network

_INTERNET: Final = (ip_network("0.0.0.0/0"), ip_network("2000::/3"))
"""What lies outside of the second leads to private, translated or no addresses."""

_NEVER: Final = (
    # Addresses of IPv4 in those of IPv6, of which some gateway makes what it likes.
    ip_network("2002::/16"),
    ip_network("192.88.99.0/24"),
    # Metadata of Azure and Oracle's clouds; those of others are link-local or private anyway.
    ip_network("168.63.129.16/32"),
    ip_network("192.0.0.0/24"),
)

Lookup = Callable[[str, int], Awaitable[Sequence[str]]]
"""The addresses of a host, for a port.  Raises OSError."""


class ForbiddenAddressError(Exception):
    """A webhook leads to where it must not; the message says so, for a person."""


async def look_up(host: str, port: int) -> Sequence[str]:
    """As the system's resolver has them."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(each[4][0]) for each in found))


def is_allowed(address: str, private: Sequence[Network]) -> bool:
    """Whether a webhook may lead to an address; ``private`` are networks that are allowed too."""
    try:
        found = ip_address(address)
    except ValueError:
        return False
    if isinstance(found, IPv6Address) and found.ipv4_mapped is not None:
        found = found.ipv4_mapped
    return any(found in network for network in private) or _is_public(found)


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    is_out = any(address in network for network in _NEVER)
    is_in = any(address in network for network in _INTERNET)
    return is_in and not is_out and address.is_global and not address.is_multicast


async def checked_addresses(
    host: str, port: int, private: Sequence[Network], lookup: Lookup = look_up
) -> Sequence[str]:
    """The addresses of a host.

    Raises ForbiddenAddressError where one of them is not allowed, and OSError where there is none.
    """
    addresses = await lookup(host, port)
    for address in addresses:
        if not is_allowed(address, private):
            raise ForbiddenAddressError(
                f"{host} is {address}, which is no address of the internet: the server's setting "
                "webhook_private_addresses allows others"
            )
    return addresses
