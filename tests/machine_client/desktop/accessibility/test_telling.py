"""What is told of elements fits into a message, whatever they call themselves."""

from machine_client.desktop.accessibility.looking import Seen
from machine_client.desktop.accessibility.nodes import Address, Node
from machine_client.desktop.accessibility.programs import Program
from machine_client.desktop.accessibility.telling import told
from schemas.link.element_messages import MAX_ELEMENTS_BYTES, MAX_NAME, MAX_VALUE, ElementsSeen
from schemas.link.messages import MAX_MESSAGE_BYTES
from schemas.values.pictures import Region

NOWHERE: tuple[None, list[Region]] = (None, [])


def seen(name: str = "Save", value: str | None = None) -> Seen:
    return Seen(Program(":1.7", "soffice"), Node(Address(":1.7", "/a"), 79, name, 0, value=value))


def test_long_names_are_cut_and_marked() -> None:
    listed = told([seen("n" * 5000, "v" * 5000)], [NOWHERE], [], is_limited=False)
    (element,) = listed.elements
    assert (len(element.name), element.name[-1]) == (MAX_NAME, "…")
    assert element.value is not None
    assert len(element.value) == MAX_VALUE


def test_what_is_too_much_for_a_message_is_left_out_with_a_word() -> None:
    many = [seen("\x01" * MAX_NAME, "\x01" * MAX_VALUE)] * 1000
    listed = told(many, [NOWHERE] * 1000, [], is_limited=False)
    assert listed.truncated == "size"
    answer = ElementsSeen(request=1, elements=[*listed.elements], truncated="size")
    assert MAX_ELEMENTS_BYTES / 2 < len(answer.model_dump_json()) < MAX_MESSAGE_BYTES


def test_programs_that_say_nothing_are_named() -> None:
    programs = [Program(":1.7", "soffice", is_silent=True), Program(":1.8", is_cut=True)]
    listed = told([], [], programs, is_limited=False)
    assert (listed.truncated, listed.silent) == ("time", ("soffice",))
    assert told([], [], programs, is_limited=True).truncated == "limit"
