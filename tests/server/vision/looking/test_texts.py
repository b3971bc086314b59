"""Texts that are read, and one that is found among them, or refused."""

import pytest
from PIL import Image

from server.vision.looking.pixels import Box, decoded
from server.vision.looking.texts import Line, nearest, place_of, read
from tests.signs import DARK, LIGHT, Colours, drawn, png


def line(text: str, score: float = 0.99) -> Line:
    words, x = [], 0
    for word in text.split():
        words.append((word, Box(x, 0, 10 * len(word), 20)))
        x += 10 * len(word) + 5
    return Line(text, score, Box(0, 0, x, 20), tuple(words))


@pytest.mark.parametrize(
    ("text", "read", "is_found"),
    [
        ("Saved", "File Saved now", True),
        ("Total (3)", "Total(3)", True),
        ("Total (3)", "Sub Total (3) EUR", True),
        ("saved", "Saved", False),
        ("Save", "Saved", False),
        ("15", "150 All", False),
        ("15", "15 All", True),
        ("3", "(3)", True),
        ("A0-17", "AO-17", False),
        ("l0", "10", False),
    ],
)
def test_text_is_found_as_it_is_written_in_whole_words(
    text: str, read: str, is_found: bool
) -> None:
    assert (place_of(text, [line("Other"), line(read)]) is not None) is is_found


def test_place_is_that_of_its_words_and_what_was_hardly_read_has_none() -> None:
    assert place_of("Saved now", [line("File Saved now")]) == Box(45, 0, 85, 20)
    assert place_of("Saved", [line("Saved", 0.6)]) is None


def test_nearest_texts_come_first() -> None:
    lines = [line("Customer"), line("Total (4)"), line("Save")]
    assert nearest(["Saved"], lines)[0] == "Save"
    assert nearest(["Total (3)", "x"], lines)[0] == "Total (4)"


@pytest.mark.parametrize("colours", [LIGHT, DARK])
@pytest.mark.parametrize("size", [(400, 100), (300, 30), (1280, 800)])
def test_few_texts_of_a_screen_are_read_each_once(size: tuple[int, int], colours: Colours) -> None:
    image = Image.new("RGB", size, colours[0])
    # Across the border of two tiles, where there are several.
    place = max(0, size[0] // 2 - 100), 0
    image.paste(drawn("Customer Total 3 Saved", (280, 30), colours), place)
    (found,) = read(decoded(png(image)))
    assert found.text.replace(" ", "") == "CustomerTotal3Saved"
    assert abs(found.box.x - place[0] - 20) < 8


def test_screen_without_texts_has_none() -> None:
    assert read(decoded(png(Image.new("RGB", (1280, 800), "#336699")))) == []
