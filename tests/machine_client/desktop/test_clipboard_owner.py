"""The thread that keeps a copied text: what it is given, how it ends, and what waits then."""

import os
import threading

import pytest

from machine_client.desktop.base import ClipboardError, DesktopLost, InjectionUnavailable
from machine_client.desktop.clipboard_owner import ClipboardOwner, ClipboardWriter
from schemas.inputs.clipboard_texts import Selection


class Owner(ClipboardOwner):
    """Owns what it is given; its display ends when a test says so."""

    def __init__(self, *, may_serve: bool = True) -> None:
        self.owned: dict[str, bytes] = {}
        self.failure: Exception | None = None
        self.is_ended = False
        self.may_serve = threading.Event()
        if may_serve:
            self.may_serve.set()
        self.disconnected = 0
        super().__init__()

    def _own(self, selection: Selection, content: bytes) -> None:
        if self.is_ended:
            raise DesktopLost("ended")
        if self.failure is not None:
            raise self.failure
        self.owned[selection] = content

    def _serve(self, awake: int) -> None:
        self.may_serve.wait()
        if self.is_ended:
            raise DesktopLost("ended")
        os.read(awake, 1)
        os.write(self._wake, b".")

    def _disconnect(self) -> None:
        self.disconnected += 1


def test_texts_are_owned_until_it_is_closed() -> None:
    owner = Owner()
    owner.put("clipboard", "ä")
    owner.put("primary", "b")
    assert owner.owned == {"clipboard": "ä".encode(), "primary": b"b"}
    assert not owner.is_over
    for _ in range(2):
        owner.close()
    assert owner.is_over
    assert owner.disconnected == 1


def test_failure_is_raised_where_it_is_waited_for_and_ends_nothing() -> None:
    owner = Owner()
    owner.failure = ClipboardError("clipboard_taken", "taken")
    with pytest.raises(ClipboardError, match="taken"):
        owner.put("clipboard", "a")
    owner.failure = None
    owner.put("clipboard", "b")
    assert owner.owned == {"clipboard": b"b"}
    owner.close()


def test_whoever_waits_when_the_display_ends_is_told() -> None:
    owner = Owner(may_serve=False)
    failed: list[Exception] = []

    def put() -> None:
        try:
            owner.put("clipboard", "a")
        except DesktopLost as error:
            failed.append(error)

    waiting = threading.Thread(target=put)
    waiting.start()
    owner.is_ended = True
    owner.may_serve.set()
    waiting.join(10)
    assert len(failed) == 1
    owner._thread.join(10)
    with pytest.raises(DesktopLost, match="display ended"):
        owner.put("clipboard", "b")
    assert owner.disconnected == 1


def test_writer_makes_an_owner_for_the_first_text_and_another_after_an_end() -> None:
    made: list[Owner] = []

    def new_owner() -> Owner:
        made.append(Owner())
        return made[-1]

    writer = ClipboardWriter(new_owner)
    writer.close()
    assert not made
    for text in ("a", "b"):
        writer.write("clipboard", text)
    assert [owner.owned for owner in made] == [{"clipboard": b"b"}]
    made[0].close()
    writer.write("clipboard", "c")
    assert len(made) == 2
    writer.close()
    assert made[1].is_over


def test_writer_without_a_display_says_so() -> None:
    def no_owner() -> Owner:
        raise InjectionUnavailable("no display")

    with pytest.raises(ClipboardError, match="no display") as caught:
        ClipboardWriter(no_owner).write("clipboard", "a")
    assert caught.value.code == "clipboard_unavailable"
