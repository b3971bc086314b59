"""What sets the thresholds for pictures: lines that are the same, and lines that only look alike.

A list of lines is drawn from a seed, recorded as JPEG, and drawn again somewhere else, in light or
dark, with what is sought in it or with a line in its place that differs in one character.  What is
measured on one half of the seeds is held against the other half.
"""

import io
import random
from dataclasses import dataclass
from typing import Final

from PIL import Image, ImageDraw, ImageFont

from schemas.values.pictures import Region, Size
from server.runs.finding.by_picture import chosen
from server.runs.finding.outcomes import Halt
from server.vision.findings import Part, PlaceFound, Question
from server.vision.looking.recorded import places
from tests.signs import DARK, LIGHT, Colours, png

SCREEN: Final = Size(1280, 800)
QUALITY: Final = 70
"""Of recorded pictures."""

_BUTTONS: Final = ("Edit", "Delete", "Open", "Save", "Print", "Close")
_SIGNS: Final = "0123456789ABCDEFGHKLMNPRSTUVXYZ"


@dataclass(frozen=True)
class Measured:
    """How much of the line was there again: of the line itself, and of one that looks alike."""

    same: float
    other: float
    found: str
    found_other: str


def measured(seed: int) -> Measured:
    """One list, sought once where it is, and once where another line has taken its place."""
    chance = random.Random(seed)
    names = [_name(chance) for _ in range(5)]
    button, size, height = chance.choice(_BUTTONS), chance.randint(11, 18), chance.randint(26, 40)
    at = chance.randint(20, 500), chance.randint(20, 400)
    away = at[0] + chance.randint(-15, 200), at[1] + chance.randint(-15, 150)
    colours = chance.choice((LIGHT, DARK))
    recorded = _drawn(names, button, size, height, at, LIGHT)
    other = [*names]
    other[2] = _other(chance, names[2])
    line = Region(at[0] + 20, at[1] + 2 * height, 320, height)
    found = [
        _places(recorded, _drawn(each, button, size, height, away, colours), line)
        for each in (names, other)
    ]
    right = away[0] + 20, away[1] + 2 * height
    decided = [_decided(each, right) for each in found]
    lines = [
        max((p.line for p in each if (p.at.x, p.at.y) == right), default=0.0) for each in found
    ]
    return Measured(lines[0], lines[1], *decided)


def report(seeds: int) -> str:
    """The measure of one half of the seeds, and what comes of the other half."""
    first = [measured(seed) for seed in range(0, seeds, 2)]
    second = [measured(seed) for seed in range(1, seeds, 2)]
    count = {how: sum(each.found == how for each in second) for how in ("right", "halted", "wrong")}
    wrong = sum(each.found_other == "right" for each in second)
    return "\n".join(
        (
            f"of {len(first)} lines, there again of the same: at least "
            f"{min(each.same for each in first):.3f}; of one that differs in a character: at most "
            f"{max(each.other for each in first):.3f}",
            f"of {len(second)} other lines {count['right']} found, {count['halted']} halted, "
            f"{count['wrong']} wrong; look-alikes taken for them: {wrong}",
        )
    )


def _decided(found: tuple[PlaceFound, ...], right: tuple[int, int]) -> str:
    decided = chosen(found)
    if decided is None or isinstance(decided, Halt):
        return "halted"
    return "right" if (decided.at.x, decided.at.y) == right else "wrong"


def _places(recorded: Image.Image, shown: Image.Image, line: Region) -> tuple[PlaceFound, ...]:
    file = io.BytesIO()
    recorded.save(file, "JPEG", quality=QUALITY)
    content = file.getvalue()
    desktop = Region(0, 0, *SCREEN)
    left = max(0, line.x - 320)
    part = Part(
        picture=desktop,
        length=len(content),
        core=line,
        line=Region(left, line.y, line.x + 640 - left, line.height),
        around=Region(line.x, max(0, line.y - 64), 320, 160),
    )
    question = Question(region=desktop, size=SCREEN, part=part)
    return places(question, part, png(shown) + content)


def _drawn(
    names: list[str],
    button: str,
    size: int,
    height: int,
    at: tuple[int, int],
    colours: Colours,
    larger: float = 1.0,
) -> Image.Image:
    ground, ink = colours
    image = Image.new("RGB", SCREEN, "#336699")
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(round(size * larger))
    left, top = at
    height, columns = round(height * larger), [round(each * larger) for each in _COLUMNS]
    name_at, button_at, button_ends, width = columns
    draw.rectangle((left, top, left + width, top + len(names) * height), fill=ground)
    for number, name in enumerate(names):
        y = top + number * height
        draw.text((left + name_at, y + height // 2), name, fill=ink, font=font, anchor="lm")
        box = left + button_at, y + 2, left + button_ends, y + height - 2
        draw.rectangle(box, outline=ink)
        middle = (box[0] + box[2]) // 2, y + height // 2
        draw.text(middle, button, fill=ink, font=font, anchor="mm")
    return image


_COLUMNS: Final = (30, 240, 330, 400)
"""Where a line's name begins, where its button does and ends, and how wide the list is."""


def _name(chance: random.Random) -> str:
    return "Order " + "".join(chance.choices(_SIGNS, k=4))


def _other(chance: random.Random, name: str) -> str:
    place = chance.randint(len(name) - 4, len(name) - 1)
    sign = chance.choice([each for each in _SIGNS if each != name[place]])
    return name[:place] + sign + name[place + 1 :]
