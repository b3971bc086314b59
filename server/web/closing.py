"""Closes the connection of a request in the middle: Tornado has no public way to."""

from typing import cast

from tornado.http1connection import HTTP1Connection
from tornado.httputil import HTTPServerRequest


def close_connection(request: HTTPServerRequest) -> None:
    """Close at once, whatever still waits to be written or read."""
    cast("HTTP1Connection", request.connection).stream.close()
