"""Notices: what is sent is understood, and what is not a notice does no harm."""

from hypothesis import given, settings
from hypothesis import strategies as st

from server.events.notices import MAX_NOTICE_BYTES, Notice, decoded, encoded, subject_of
from server.store.event_log import LoggedEvent
from tests.store import ORGANIZATION

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
EVENTS = st.lists(
    st.builds(LoggedEvent, TEXTS, st.none() | TEXTS, TEXTS.map(lambda text: text.encode()))
)


@settings(max_examples=50)
@given(st.integers(1, 2**60), EVENTS)
def test_notice_is_understood(number: int, events: list[LoggedEvent]) -> None:
    assert decoded(encoded(number, events)) == Notice(number, len(events), events)


@settings(max_examples=50)
@given(st.binary() | st.text().map(lambda text: text.encode("utf-8", "replace")))
def test_anything_else_is_none(message: bytes) -> None:
    assert decoded(message) is None


def test_large_batch_is_only_announced() -> None:
    # Quotes are escaped: it is the message that must not be too long.
    events = [LoggedEvent("machine", None, b'"' * (MAX_NOTICE_BYTES - 1000))]
    message = encoded(7, events)
    assert len(message) < 100
    assert decoded(message) == Notice(7, 1, None)


def test_each_organization_has_a_subject() -> None:
    assert subject_of("farhand.x.events", ORGANIZATION) == f"farhand.x.events.{ORGANIZATION.hex}"
