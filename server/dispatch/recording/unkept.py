"""What was typed while a machine is recorded, and what of it the recording keeps.

Programs show what was typed in places of their own: in a title, a list, a message.  A name that may
have some of it would say what is kept nowhere else.
"""

import re
from typing import Final
from unicodedata import normalize

from schemas.inputs.actions import Actions
from schemas.inputs.bodies import InputBody, PressKeys, SetElementValue, TypeText, WriteClipboard
from server.dispatch.recording.before_and_after import is_quiet
from server.dispatch.recording.keys import characters

PART: Final = 4
"""So many characters in a row are a part of a text; a shorter text is one as a word of its own."""

MOST_PARTS: Final = 50_000

_BEFORE: Final = 16
"""Characters before a key that may be in a part together with what it types."""

_BETWEEN_WORDS: Final = re.compile(r"[\W_]+")


class Unkept:
    """Parts of all that is typed, and of what of it is kept in steps.

    Where it does not know of all that was typed, each name may have some of it.
    """

    def __init__(self) -> None:
        self.is_whole = True
        self._typed: set[str] = set()
        self._kept: set[str] = set()
        self._latest = ""

    def typed(self, body: InputBody) -> None:
        """An input is on its way: what it types may be a secret."""
        if isinstance(body, Actions):
            for action in body.actions:
                if isinstance(action, InputBody):
                    self.typed(action)
        elif text := _text_of(body):
            before = self._latest[-_BEFORE:]
            self._latest = before + text
            self._bounded(self._typed, _parts_of(self._latest))
        elif isinstance(body, PressKeys) and body.text == "backspace" and body.repeat == 1:
            self._latest = self._latest[:-1] if body.down is not False else self._latest
        elif not is_quiet(body):
            self._typed |= self._short
            self._latest = ""

    def kept(self, text: str) -> None:
        """A step has a text, so that it is no secret."""
        self._bounded(self._kept, _parts_of(text) | _words_of(text))

    def may_be_in(self, name: str) -> bool:
        """Whether a name may have something of a text that no step keeps."""
        if not self.is_whole:
            return True
        unkept = (self._typed | self._short) - self._kept
        return not unkept.isdisjoint(_parts_of(name) | _words_of(name))

    @property
    def _short(self) -> set[str]:
        """What was typed since anything else was done, where that is too short to have parts."""
        return _words_of(self._latest) if len(self._latest) < PART else set()

    def _bounded(self, known: set[str], parts: set[str]) -> None:
        known |= parts
        if len(known) > MOST_PARTS:
            self.is_whole = False
            known.clear()


def _text_of(body: InputBody) -> str:
    match body:
        case TypeText() | WriteClipboard():
            return body.text
        case SetElementValue(value=str(text)):
            return text
        case PressKeys() if body.down is not False:
            return characters(body.text) * body.repeat
        case _:
            return ""


def _parts_of(text: str) -> set[str]:
    """All parts, also of the text without what may stand between its letters and digits."""
    folded = normalize("NFKC", text).casefold()
    forms = "".join(folded.split()), _BETWEEN_WORDS.sub("", folded)
    return {form[start : start + PART] for form in forms for start in range(len(form) - PART + 1)}


def _words_of(text: str) -> set[str]:
    return {*_BETWEEN_WORDS.split(normalize("NFKC", text).casefold())} - {""}
