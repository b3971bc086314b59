"""What is meant, held against what programs tell."""

import pytest

from machine_client.desktop.accessibility.nodes import Address, Node
from machine_client.desktop.accessibility.refs import ref_of
from machine_client.desktop.accessibility.search import Search, named, without_parts
from schemas.inputs.selectors import Selector, Sought


def node(name: str = "Save", role: int = 43, value: str | None = None) -> Node:
    return Node(Address(":1.7", "/a/b"), role, name, 0, value=value)


@pytest.mark.parametrize(
    ("sought", "fitting", "other"),
    [
        (Sought(role="push button"), node(), node(role=29)),
        (Sought(name="Sa*"), node(), node("Cancel")),
        (Sought(text="av"), node(), node("Cancel")),
        (Sought(text="47"), node(value="4711"), node(value=None)),
        (Sought(value="4?11"), node(value="4711"), node(value="471")),
        (Sought(value="*"), node(value=""), node()),
        (Selector(ref=ref_of(node())), node(), node("Delete")),
        (Sought(), node(), None),
    ],
)
def test_all_that_is_given_must_be_so(sought: Sought, fitting: Node, other: Node | None) -> None:
    search = Search(sought)
    assert search.may_fit(fitting)
    assert search.fits(fitting)
    assert other is None or not (search.may_fit(other) and search.fits(other))


def test_window_application_and_bus_narrow_where_is_looked() -> None:
    search = Search(Selector(ref=ref_of(node()), window="Invoice*", application="soffice"))
    assert (search.in_window("Invoice 7"), search.in_window("Mail")) == (True, False)
    assert (search.in_application("soffice"), search.in_application("gimp")) == (True, False)
    assert (search.on_bus(":1.7"), search.on_bus(":1.8")) == (True, False)
    assert not Search(Selector(ref="strange")).on_bus(":1.7")
    assert Search(Sought()).on_bus(":1.8")


def test_label_of_a_button_is_no_other_thing_than_the_button() -> None:
    button, stranger = node(), node()
    label, inner = node(role=29), node("Help", role=29)
    label.parent = inner.parent = button
    assert without_parts([button, label, inner, stranger]) == [button, inner, stranger]


def test_elements_are_named_for_a_person() -> None:
    assert named([node()]) == 'push button "Save" in "Save"'
    assert named([node()] * 5).endswith(" and others")
