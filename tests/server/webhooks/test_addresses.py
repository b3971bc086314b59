"""Which addresses a webhook may lead to."""

from collections.abc import Sequence
from ipaddress import ip_network

import pytest

from server.webhooks.addresses import ForbiddenAddressError, checked_addresses, is_allowed
from tests.store import async_test


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.9.9.9", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1"),
        *("169.254.169.254", "100.64.0.1", "100.100.100.200", "168.63.129.16", "192.0.0.192"),
        *("224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "198.18.0.1"),
        *("::1", "::", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::7f00:1"),
        *("fe80::1", "fe80::1%eth0", "fd00:ec2::254", "ff02::1", "64:ff9b::7f00:1"),
        *("2002:7f00:1::", "2001::1", "2001:db8::1", "192.88.99.1", "nonsense"),
    ],
)
def test_what_is_not_of_the_internet_is_refused(address: str) -> None:
    assert not is_allowed(address, ())


@pytest.mark.parametrize("address", ["1.1.1.1", "::ffff:1.1.1.1", "2606:4700:4700::1111"])
def test_what_is_of_the_internet_is_allowed(address: str) -> None:
    assert is_allowed(address, ())


def test_setting_allows_its_networks_alone() -> None:
    private = [ip_network("10.0.0.0/8"), ip_network("::1/128")]
    allowed = [is_allowed(each, private) for each in ("10.1.1.1", "::ffff:10.1.1.1", "::1")]
    assert allowed == [True, True, True]
    assert not is_allowed("127.0.0.1", private)


@async_test
async def test_one_private_address_among_several_forbids_all() -> None:
    async def lookup(_host: str, _port: int) -> Sequence[str]:
        return ["1.1.1.1", "10.0.0.1"]

    with pytest.raises(ForbiddenAddressError, match=r"ten\.example is 10\.0\.0\.1, which"):
        await checked_addresses("ten.example", 443, (), lookup)
