"""Looks at one picture: which condition it meets, or which texts it has."""

from base64 import b64decode

from schemas.inputs.sights import MAX_SEEN, MAX_SHOWN_TEXT, PictureShown, TextShown
from server.vision.findings import LONGEST_TEXT, MOST_TEXTS, Findings, Question, TextFound
from server.vision.looking import pictures, pixels, recorded, texts, written
from server.vision.looking.pixels import Pixels


def looked_at(question: Question, picture: bytes) -> Findings:
    """What the picture shows of what was asked."""
    if question.part is not None:
        by = recorded if question.part.text_at is None else written
        return Findings(places=by.places(question, question.part, picture))
    screen = pixels.decoded(picture)
    if not question.conditions:
        return Findings(texts=_texts(question, screen))
    lines = None
    sought: list[str] = []
    for number, condition in question.conditions:
        if isinstance(condition, TextShown):
            lines = texts.read(screen) if lines is None else lines
            sought.append(condition.text)
            found = texts.place_of(condition.text, lines)
            is_there = found is not None
        else:
            found, is_there = _found_picture(condition, question, screen)
        if condition.gone and not is_there:
            return Findings(matched=number)
        if found is not None and not condition.gone:
            return Findings(matched=number, at=pixels.on_desktop(found, question))
    seen = [] if lines is None else texts.nearest(sought, lines)[:MAX_SEEN]
    return Findings(seen=tuple(each[:MAX_SHOWN_TEXT] for each in seen))


def _texts(question: Question, screen: Pixels) -> tuple[TextFound, ...]:
    return tuple(
        TextFound(
            text=line.text[:LONGEST_TEXT],
            score=round(line.score, 3),
            at=pixels.on_desktop(line.box, question),
        )
        for line in texts.read(screen)[:MOST_TEXTS]
    )


def _found_picture(
    condition: PictureShown, question: Question, screen: Pixels
) -> tuple[pixels.Box | None, bool]:
    """Where a picture is, and whether it is there at all: several are there, and nowhere."""
    sought = pixels.decoded(b64decode(condition.picture))
    near = None if condition.near is None else pixels.in_picture(condition.near, question)
    found = pictures.find(screen, sought, condition.similarity)
    return pictures.chosen(found, near), bool(found)
