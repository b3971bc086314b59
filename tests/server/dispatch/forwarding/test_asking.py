"""Requests to the node that holds a machine's link: `test_elsewhere` has what comes of them."""

from uuid import uuid4

from server.dispatch.forwarding.asking import key_of
from server.dispatch.questions.control import FindLink


def test_request_is_about_one_machine() -> None:
    organization_id = uuid4()
    request = FindLink(organization_id=organization_id, machine_id="desk-1")
    assert key_of(request) == (organization_id, "desk-1")
