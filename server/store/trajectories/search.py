"""How a trajectory is found by a piece of its id, name or description, without a scan.

Every suffix of each text, cut short, is a key of an index: what begins with the needle there is
what contains it.  A needle that is longer than the keys is looked up by a piece of it, and what is
found is compared with the whole.  What the user typed is only ever a value or a literal pattern.
"""

import re
import unicodedata
from functools import cache
from typing import Final
from uuid import UUID

from server.store.mongodb.documents import Document

KEY_CHARACTERS: Final = 8
"""Suffixes are cut to this length: a longer needle is compared with what it may be in."""

MIN_LOOKED_UP_CHARACTERS: Final = 3
"""No key is shorter: for such needles, which are nearly everywhere, all texts are read through."""

MAX_INDEXED_CHARACTERS: Final = 2000
"""Longer texts, all of a trajectory's together, are not indexed: those few are read through."""

# Folded text has no capital letters, so that no needle reaches from one text into the next.
_BETWEEN_TEXTS: Final = "Z"
_LAST_CHARACTER: Final = "\U0010ffff"
_MAX_LOOKUP_KEYS: Final = 4

_MAX_MARKS: Final = 30
_FIRST_CODE_AFTER_MARKS: Final = 0x20000
_JOINER: Final = "\u034f"

# ASCII that may mean something to a regular expression, or to the text that carries it: BSON ends
# a pattern at NUL.  Everything else stands for itself.
_DIGITS: Final = re.compile(r"[0-9]+")
_SPECIAL: Final = re.compile(r"[^0-9A-Za-z\u0080-\U0010ffff]")


def folded(text: str) -> str:
    """A text as searches compare it: Unicode's full case folding, accents composed.

    So "STRASSE" finds "Straße", and "é" is one character, however it was typed; "e" does not find
    it.  It follows Unicode's canonical caseless matching (section 3.13, D145), composed at the end.
    """
    if text.isascii():
        return text.lower()
    text = _stream_safe(text)
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())


def _stream_safe(text: str) -> str:
    """Put joiners between combining marks, where more follow one another than any language has.

    Normalizing sorts the marks of a character, which takes the square of their number: 50,000 of
    them would hold up everybody for seconds.  It is Unicode's own remedy (UAX #15, section 13).
    """
    return _too_many_marks().sub(rf"\g<0>{_JOINER}", text)


@cache
def _too_many_marks() -> re.Pattern[str]:
    marks = (
        chr(code) for code in range(_FIRST_CODE_AFTER_MARKS) if unicodedata.combining(chr(code))
    )
    return re.compile(f"[{''.join(marks)}]{{{_MAX_MARKS}}}")


def search_text(own_id: UUID, name: str | None, description: str | None) -> str:
    """All texts that a search compares, folded, and joined so that no needle spans two of them."""
    texts = (str(own_id), name, description)
    return _BETWEEN_TEXTS.join(folded(text) for text in texts if text)


def name_order(name: str | None) -> str:
    """What names are sorted by, as MongoDB and Python compare texts: by their code points.

    Case does not matter, digits count as numbers, and accents only between names that are the same
    without them.  Whatever has no name comes last.
    """
    if name is None:
        return _LAST_CHARACTER
    whole = unicodedata.normalize("NFD", _DIGITS.sub(_sorted_digits, folded(name)))
    bare = "".join(each for each in whole if not unicodedata.combining(each))
    return bare if bare == whole else f"{bare}\0{whole}"


def _sorted_digits(found: re.Match[str]) -> str:
    """The digits of a number behind how many they are, without zeros in front."""
    digits = found[0].lstrip("0")
    return f"{len(digits):03}{digits}"


def is_long(text: str) -> bool:
    """Whether what ``search_text`` made is read through at each search."""
    return len(text) > MAX_INDEXED_CHARACTERS


def suffix_keys(text: str) -> list[str] | None:
    """The index keys for what ``search_text`` made; None where it is too long to have any."""
    if is_long(text):
        return None
    return sorted(
        {
            part[start : start + KEY_CHARACTERS]
            for part in text.split(_BETWEEN_TEXTS)
            for start in range(len(part) - MIN_LOOKED_UP_CHARACTERS + 1)
        }
    )


def lookup_keys(needle: str) -> list[str]:
    """The pieces of a folded needle by which it is looked up: itself, where it is short."""
    if len(needle) <= KEY_CHARACTERS:
        return [needle]
    last = len(needle) - KEY_CHARACTERS
    count = min(_MAX_LOOKUP_KEYS, 1 + -(-last // KEY_CHARACTERS))
    starts = [last * number // (count - 1) for number in range(count)]
    return [needle[start : start + KEY_CHARACTERS] for start in starts]


def containing(key: str) -> Document:
    """The filter for entries with a text that contains what is no longer than a key."""
    # The largest key that begins with it: MongoDB compares texts by their code points.
    last = key + _LAST_CHARACTER * (KEY_CHARACTERS - len(key))
    return {"suffixes": {"$elemMatch": {"$gte": key, "$lte": last}}}


def substring_pattern(needle: str) -> str:
    """A regular expression (PCRE) that finds a folded needle itself, and nothing else."""
    return _SPECIAL.sub(lambda found: f"\\x{ord(found[0]):02x}", needle)
