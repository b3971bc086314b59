"""What is painted: little is heard of it unasked, and answers have their bounds."""

import pytest

from machine_client.desktop.vnc.rfb.noise import MOST_DUE, Noise, Painting
from machine_client.desktop.vnc.rfb.parsing import ProtocolError

Size = tuple[int, int]

SECONDS = 10
HD, UHD, LARGEST = (1920, 1080), (3840, 2160), (8000, 4000)


def paint(screen: Size, update: list[Size], rate: float, asked: int = 1) -> None:
    """Have such an update come so often in a second, each after so many requests."""
    moment = 0.0
    painting = Painting(Noise(lambda: moment))
    for _ in range(round(SECONDS * rate)):
        painting.asked += asked
        painting.begin()
        for width, height in update:
            painting.painted(width, height, screen)
        moment += 1 / rate


HONEST: dict[str, tuple[Size, list[Size], float]] = {
    "all of a large screen": (UHD, [UHD], 30),
    "all of the largest": (LARGEST, [LARGEST], 10),
    "text that scrolls, as QEMU tells of it": ((1280, 800), [(16, 8)] * 4000, 8),
    "a screen in bands, as TigerVNC sends it": (HD, [*[(1920, 34)] * 31, (1920, 26)], 30),
    "a copied window and what was under it": (HD, [(1200, 900), (1200, 900)], 30),
    "all of a screen, once in a thousand pieces": (HD, [(32, 64)] * 1020, 0.1),
}


@pytest.mark.parametrize("kind", HONEST)
def test_server_that_answers_with_much_is_heard(kind: str) -> None:
    paint(*HONEST[kind])


HOSTILE: dict[str, tuple[Size, list[Size], float]] = {
    "pixel by pixel": (HD, [(1, 1)] * 60_000, 3),
    "columns": (LARGEST, [(1, 4000)] * 300, 1),
    "the whole screen again and again": (LARGEST, [LARGEST] * 10, 0.5),
    "tiny answers": (HD, [(1, 1)], 5000),
}
"""Answers to requests, each as often as a slow processor reads it."""


@pytest.mark.parametrize("kind", HOSTILE)
def test_answer_is_bounded_too(kind: str) -> None:
    with pytest.raises(ProtocolError, match="a server may say unasked"):
        paint(*HOSTILE[kind])


def test_little_may_come_unasked_and_much_may_not() -> None:
    paint(HD, [HD], 5, asked=0)
    with pytest.raises(ProtocolError, match="a server may say unasked"):
        paint(HD, [HD], 50, asked=0)


def test_requests_that_were_answered_together_are_not_owed_for_ever() -> None:
    painting = Painting(Noise(lambda: 0.0))
    painting.asked = 1000

    def answer(updates: int) -> None:
        for _ in range(updates):
            painting.begin()
            painting.painted(*LARGEST, LARGEST)

    answer(MOST_DUE)
    with pytest.raises(ProtocolError):
        answer(4)
