"""Records on a real X server: whose they are, and what becomes of one whose owner died."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import Xlib.display
from hypothesis import given
from hypothesis import strategies as st

from machine_client.desktop.x11.server_record import Record, ServerRecord
from tests.desktop import virtual_display
from tests.waiting import eventually

KEYCODES = st.integers(8, 255)
RECORDS = st.builds(
    Record,
    st.lists(st.integers(1, 255)),
    st.lists(KEYCODES),
    st.dictionaries(KEYCODES, st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))),
)
OPENS = Callable[[], tuple[Any, ServerRecord]]


@given(RECORDS)
def test_a_record_is_read_as_it_was_written(record: Record) -> None:
    assert Record.unpack(record.pack()) == record


@given(st.lists(st.integers(0, 2**32 - 1)))
def test_numbers_that_nobody_wrote_do_no_harm(numbers: list[int]) -> None:
    record = Record.unpack(numbers)
    assert all(0 < number < 256 for number in record.buttons + record.keycodes)
    assert all(keycode < 256 for keycode in record.lent)


@pytest.fixture(scope="module")
def own_display() -> Iterator[str]:
    # An X server forgets everything with its last client, unless the next one comes at once.
    with virtual_display() as name, contextlib.closing(Xlib.display.Display(name)):
        yield name


@pytest.fixture
def opens(own_display: str) -> Iterator[OPENS]:
    """Opens a connection and its record; in the end all are closed and nothing is left behind."""
    clients: list[tuple[Any, ServerRecord]] = []

    def opened() -> tuple[Any, ServerRecord]:
        connection = Xlib.display.Display(own_display)
        clients.append((connection, ServerRecord(connection)))
        return clients[-1]

    yield opened
    for connection, record in clients:
        if connection.display.socket_error is None:
            record.write(Record())
            connection.sync()
            connection.close()


def test_the_record_of_a_client_that_died_is_found_by_one_other(opens: OPENS) -> None:
    first, record = opens()
    assert not record.left_behind
    record.write(Record([1, 3], [38], {248: (5, 6)}))
    first.sync()
    first.close()
    second, record = opens()
    assert record.left_behind == Record([1, 3], [38], {248: (5, 6)})
    assert not opens()[1].left_behind
    record.write(Record())
    second.sync()
    second.close()
    assert not opens()[1].left_behind


def test_clients_that_live_have_slots_of_their_own_which_are_used_again(opens: OPENS) -> None:
    clients = [opens() for _ in range(40)]
    assert len({record._slot for _, record in clients}) == 40
    for number, (connection, record) in enumerate(clients):
        record.write(Record([1 + number], [], {}))
        connection.sync()
    for number in (35, 7):
        clients[number][0].close()
    _, taken = opens()
    assert taken.left_behind.buttons == [8, 36]
    assert taken._slot == clients[7][1]._slot
    assert not opens()[1].left_behind


def test_an_unchanged_record_is_not_written_again(opens: OPENS) -> None:
    connection, record = opens()
    record.write(Record([1], [], {}))
    queued = len(connection.display.request_queue)
    record.write(Record([1], [], {}))
    assert len(connection.display.request_queue) == queued


def test_another_programs_property_of_that_name_is_overwritten(
    opens: OPENS, own_display: str
) -> None:
    with contextlib.closing(Xlib.display.Display(own_display)) as other:
        other.screen(0).root.change_property(
            other.intern_atom("_FARHAND_INPUT_0"), other.intern_atom("TEXT"), 8, b"nonsense"
        )
        other.sync()
        connection, record = opens()
        assert not record.left_behind
        record.write(Record([2], [], {}))
        value = eventually(
            lambda: (
                other.screen(0).root.get_full_property(record._slot, 0)
                if connection.sync() is None
                else None
            ),
            "the record",
        )
        assert list(value.value) == [1, 2, 0]
