"""What messages between nodes are addressed to."""

from uuid import uuid4

from server.bus.bus import check_subject
from server.bus.subjects import Subjects


def test_every_link_has_its_own_subject_whatever_its_machine_is_called() -> None:
    subjects, organization = Subjects(b"secret"), uuid4()
    places = [
        *((organization, name, 1) for name in ("desk", "desk.1", "Desk", "d" * 128, "a.b.c-_")),
        (organization, "desk", 2),
        (uuid4(), "desk", 1),
    ]
    made = [subjects.link(*place) for place in places]
    assert len(set(made)) == len(made)
    for subject in (*made, subjects.node(uuid4())):
        check_subject(subject)


def test_installations_share_no_subject() -> None:
    node = uuid4()
    assert Subjects(b"one").node(node) != Subjects(b"two").node(node)
