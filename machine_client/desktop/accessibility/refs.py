"""What elements are called for whoever asks again: bound to what they were when they were told."""

import hashlib
import re
from typing import NamedTuple

from machine_client.desktop.accessibility.nodes import Address, Node
from schemas.inputs.selectors import MAX_REF_LENGTH

_REF = re.compile(r"(:[0-9]{1,9}\.[0-9]{1,9})(/[A-Za-z0-9_/]+)~([0-9a-f]{12})")


class Ref(NamedTuple):
    """An address, and what tells whether the same element is there."""

    address: Address
    identity: str


def ref_of(node: Node) -> str:
    """What a node is called; a path that is too long for that is shortened, and leads nowhere."""
    name = f"{node.address.name}{node.address.path}"
    return f"{name[: MAX_REF_LENGTH - 13]}~{identity_of(node)}"


def identity_of(node: Node) -> str:
    """What changes with role and name, and tells neither."""
    told = f"{node.role_number}\0{node.name}".encode(errors="surrogatepass")
    return hashlib.sha256(told).hexdigest()[:12]


def parsed(ref: str) -> Ref | None:
    """What a ref names; None where it is none of ours."""
    found = _REF.fullmatch(ref)
    return found and Ref(Address(found[1], found[2]), found[3])
