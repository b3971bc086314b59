"""Texts of any script, typed into a window that logs the characters it is told.

No EDIT control: that of Wine ends its program for some Hebrew points.
"""

import itertools
import random
import unicodedata
from collections.abc import Iterator

import pytest

from machine_client.desktop.windows.desktop import WindowsDesktop
from machine_client.work.injector import DesktopInjector
from schemas.inputs.bodies import TypeText
from tests.machine_client.desktop.contract.inputs import perform
from tests.machine_client.desktop.windows.rig import WindowsWitness

_KINDS = (
    *((0x20, 0x7E), (0xA0, 0x24F), (0x300, 0x36F), (0x400, 0x6FF), (0x900, 0xDFF)),
    *((0x2000, 0x206F), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xE000, 0xF8FF), (0xFFF0, 0xFFFF)),
    *((0x1F300, 0x1FAFF), (0x20000, 0x2FFFF), (0x20, 0x10FFFF), (0x9, 0xA)),
)
"""From every plane; the last are the two control characters that a text may have."""


@pytest.fixture
def witness() -> Iterator[WindowsWitness]:
    witness = WindowsWitness()
    yield witness
    witness.close()


def random_texts(draw: random.Random) -> Iterator[str]:
    while True:
        yield _random_text(draw)


def _random_text(draw: random.Random) -> str:
    kinds = draw.sample(_KINDS, draw.randint(1, 4))
    drawn = (chr(draw.randint(*draw.choice(kinds))) for _ in range(draw.choice((1, 4, 12))))
    return "".join(
        each for each in drawn if each in "\t\n" or unicodedata.category(each) not in ("Cc", "Cs")
    )


@pytest.mark.timeout(600)  # half a minute, where nothing else runs
@pytest.mark.parametrize(("seed", "count"), [(17, 100), (18, 1000)], ids=["hundred", "thousand"])
def test_random_texts_are_typed_exactly(witness: WindowsWitness, seed: int, count: int) -> None:
    draw = random.Random(seed)
    texts = list(itertools.islice(filter(None, random_texts(draw)), count))
    injector = DesktopInjector(WindowsDesktop())
    witness.characters()
    wrong = []
    for text in texts:
        perform(injector, TypeText(text=text))
        if (typed := witness.characters().replace("\r", "\n")) != text:
            wrong.append((text, typed))
    injector.close()
    characters = sum(map(len, texts))
    beyond = sum(each > "\uffff" for text in texts for each in text)
    print(
        f"\n{count} random texts, {characters} characters, {beyond} beyond the first plane: ",
        end="",
    )
    print(f"{len(wrong)} wrong")
    assert wrong == []
    assert witness.held() == frozenset()
