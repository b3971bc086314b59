"""Refs lead back to what they were given to, and to nothing else."""

import pytest

from machine_client.desktop.accessibility.nodes import Address, Node
from machine_client.desktop.accessibility.refs import identity_of, parsed, ref_of
from schemas.inputs.selectors import MAX_REF_LENGTH, Selector


def node(name: str = "Save", path: str = "/org/a11y/atspi/accessible/4", role: int = 43) -> Node:
    return Node(Address(":1.7", path), role, name, 0)


def test_ref_leads_back() -> None:
    told = ref_of(node())
    assert Selector(ref=told).ref == told
    ref = parsed(told)
    assert ref is not None
    assert ref.address == node().address
    assert ref.identity == identity_of(node())


def test_another_name_or_role_is_another_element() -> None:
    others = {identity_of(node(name="Delete")), identity_of(node(role=29)), identity_of(node())}
    assert len(others) == 3


@pytest.mark.parametrize("ref", ["", "a", ":1.7/a", ":1.7/a~xyz", ":1.7/a b~0123456789ab"])
def test_what_is_no_ref_leads_nowhere(ref: str) -> None:
    assert parsed(ref) is None


def test_ref_of_a_long_path_is_bounded() -> None:
    assert len(ref_of(node(path="/" + "a" * 10_000))) == MAX_REF_LENGTH
