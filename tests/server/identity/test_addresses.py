from ipaddress import ip_network

import pytest
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine

from server.identity.addresses import caller_address

PROXIES = (ip_network("10.0.0.0/8"), ip_network("2001:db8::1"))


def asked(remote_ip: str, forwarded: str | None = None) -> HTTPServerRequest:
    headers = HTTPHeaders() if forwarded is None else HTTPHeaders({"X-Forwarded-For": forwarded})
    headers["Host"] = "x"
    request = HTTPServerRequest(
        start_line=RequestStartLine("GET", "/", "HTTP/1.1"), headers=headers
    )
    request.remote_ip = remote_ip
    return request


@pytest.mark.parametrize(
    ("remote_ip", "forwarded", "expected"),
    [
        ("192.0.2.7", None, "192.0.2.7"),
        ("192.0.2.7", "198.51.100.1", "192.0.2.7"),
        ("10.0.0.1", None, "10.0.0.1"),
        ("10.0.0.1", "198.51.100.1", "198.51.100.1"),
        ("10.0.0.1", "203.0.113.9, 198.51.100.1", "198.51.100.1"),
        ("10.0.0.1", "203.0.113.9, 198.51.100.1 ,10.9.9.9", "198.51.100.1"),
        ("10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"),
        ("10.0.0.1", "198.51.100.1, nonsense", "10.0.0.1"),
        ("::ffff:10.0.0.1", "198.51.100.1", "198.51.100.1"),
        ("2001:db8::1", "2001:db8:7:8:9::1", "2001:db8:7:8::/64"),
        ("", None, ""),
    ],
)
def test_right_most_address_that_no_trusted_proxy_has_is_the_callers(
    remote_ip: str, forwarded: str | None, expected: str
) -> None:
    assert caller_address(asked(remote_ip, forwarded), PROXIES) == expected


def test_nobody_is_believed_unless_trusted() -> None:
    assert caller_address(asked("10.0.0.1", "198.51.100.1"), ()) == "10.0.0.1"
