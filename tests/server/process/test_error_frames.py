"""What an error's frames know is gone with it, and does not wait for the garbage collector."""

import weakref
from collections.abc import Callable

import pytest

from server.process.error_frames import forget_frames


class Text:
    """Something long."""


def fail(known: Text) -> None:
    assert known
    mistake = ValueError("known to its own frame")
    raise mistake


def fail_after_another(known: Text) -> None:
    try:
        fail(known)
    except ValueError:
        raise LookupError("and so is the first") from None


def fail_because_of_another(known: Text) -> None:
    try:
        fail(known)
    except ValueError as cause:
        raise LookupError("and so is its cause") from cause


def seen(failing: Callable[[Text], None], *, forgets: bool) -> "weakref.ref[Text]":
    known = Text()
    try:
        failing(known)
    except (ValueError, LookupError) as error:
        if forgets:
            forget_frames(error)
    return weakref.ref(known)


@pytest.mark.usefixtures("no_garbage_collection")
@pytest.mark.parametrize("failing", [fail, fail_after_another, fail_because_of_another])
def test_what_frames_know_is_let_go_of(failing: Callable[[Text], None]) -> None:
    assert seen(failing, forgets=False)() is not None
    assert seen(failing, forgets=True)() is None
