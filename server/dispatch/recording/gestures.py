"""What a hand's events come to: clicks, drags, wheel runs, texts, combinations, and rests.

A state machine without I/O: it is given what was carried out, in order, and hands out the steps
that are over.  `open` says what the one under way would be if it ended now.  Times are milliseconds
since 1970.
"""

from dataclasses import dataclass, replace
from typing import Final
from uuid import uuid4

from schemas.inputs import bodies
from schemas.inputs.bodies import Button, Operation
from schemas.inputs.key_combinations import Key, parse_combination
from server.dispatch.recording.drafts import Draft, body_of, gap
from server.dispatch.recording.hand_events import Done, Place, Press, are_near, at, held_with
from server.dispatch.recording.keys import character_of, combination

DOUBLE_CLICK: Final = 400
"""From press to press: a further click within this is one of a double or triple click."""

WHEEL_PAUSE: Final = 1000
KEY_PAUSE: Final = 1000
TEXT_PAUSE: Final = 2000
"""What comes later than this begins another step."""

HELD: Final = 500
"""What is down for so long does more than what was just pressed: on most desktops a key repeats."""

REST: Final = 300
"""The pointer rests where it stays for so long; what opens under it then may matter."""

MOST_CLICKS: Final = 3
MOST_CHARACTERS: Final = 500
MOST_CHORDS: Final = 50

REPEATED: Final = (
    "A key that types a character was held down by hand: what it typed beyond the first one is "
    "missing."
)


@dataclass(frozen=True, slots=True)
class _Stroke:
    """The key that went down last, as a combination where that may be kept.

    ``before`` is the step that it was put into, as that was before it.
    """

    done: Done
    name: str
    keys: str | None
    before: Draft | None


class Gestures:
    """The events of one hand; each of these gives the steps that are over by then.

    ``keep_texts`` is whether characters may stand in steps as the keys that typed them.
    """

    def __init__(self, *, keep_texts: bool = False) -> None:
        self._keep_texts = keep_texts
        self._place: Place | None = None
        self._rest: Done | None = None
        self._press: Press | None = None
        self._raw: set[Button] = set()
        self._draft: Draft | None = None
        self._clicked_at = 0
        self._stroke: _Stroke | None = None
        # Each modifier that is down, and whether anything was done with it.
        self._held: dict[str, bool] = {}

    def took(self, done: Done) -> list[Draft]:
        """Take an event that was carried out."""
        closed = self.rested(done.span.began)
        match done.body:
            case bodies.MoveMouse():
                self._moved(done, done.body)
            case bodies.ClickMouse():
                closed += self._rest_is_over(done) + self._button(done, done.body)
            case bodies.ScrollMouse():
                closed += self._rest_is_over(done) + self._scrolled(done, done.body)
            case bodies.PressKeys():
                closed += self._rest_is_over(done) + self._key(done, done.body)
            case bodies.TypeText():
                self._stroke = None
                closed += self._rest_is_over(done) + self._typed(done, done.body.text)
            case _:
                closed += self.close()
        return closed

    def rested(self, now: int) -> list[Draft]:
        """What is over because nothing has come for so long."""
        draft = self._draft
        if draft is None or self._stroke is not None or now - draft.ended <= _pause_of(draft):
            return []
        return self._close()

    def close(self) -> list[Draft]:
        """Nothing more comes: all that is under way, as it is."""
        closed = self._close()
        if self._press is not None:
            closed.append(self._raw_draft(self._press.done))
            self._raw.add(self._press.button)
            self._press = None
        return closed

    @property
    def open(self) -> Draft | None:
        """What is under way, as it would be if it ended now."""
        if self._draft is not None:
            return replace(self._draft, body={**self._draft.body})
        return None if self._press is None else self._raw_draft(self._press.done)

    def _close(self) -> list[Draft]:
        closed, self._draft, self._stroke = self._draft, None, None
        return [] if closed is None else [closed]

    def _next(self, draft: Draft) -> list[Draft]:
        """Begin a step that may go on; the one before is over."""
        closed = self._close()
        self._draft = draft
        return closed

    def _moved(self, done: Done, body: bodies.MoveMouse) -> None:
        if body.x is None or body.y is None:
            return  # A hand names no element, and so always a place.
        passed = [*((point.x, point.y) for point in body.passed), (body.x, body.y)]
        self._place = passed[-1]
        if self._press is None:
            self._rest = done
        else:
            self._press.path += passed

    def _rest_is_over(self, done: Done) -> list[Draft]:
        """The pointer rested somewhere before this, for long enough, perhaps.

        What is pressed or turned where it rested goes there by itself.  Keys go to what is under it
        where a menu is open, however short it rested, but seldom in the middle of a text.
        """
        rest, place = self._rest, self._place
        if rest is None or place is None:
            return []
        is_told = done.span.began - rest.span.ended >= REST
        match done.body:
            case (bodies.ClickMouse() | bodies.ScrollMouse()) as body:
                is_told = is_told and not are_near(self._place_of(body), place)
            case bodies.PressKeys() as keys if _strikes_nothing(keys):
                if not is_told:
                    return []  # What is done with the modifier decides.
            case _:
                is_told = is_told or self._draft is None or self._draft.text is None
        self._rest = None
        if not is_told:
            return []
        x, y = place
        move = self._draft_of(rest, Operation.MOUSE_MOVE, {"x": x, "y": y}, place=place)
        move.hover = True
        return [*self._close(), move]

    def _button(self, done: Done, body: bodies.ClickMouse) -> list[Draft]:
        place = self._place_of(body)
        if body.down:
            if self._press is not None:
                # Two at once are no click of either.
                return [*self.close(), *self._as_it_is(done, body)]
            self._press = Press(done, body.button, place, self._modifiers())
            if self._goes_on(self._press):
                self._press.goes_on = self._draft
                return []
            return self._close()
        press = self._press
        if press is None or press.button != body.button:
            return [*self._close(), *self._as_it_is(done, body)]
        self._press = None
        if place is not None:
            press.path.append(place)
        if press.is_drag:
            return self._dragged(done, press)
        if press.place is not None and done.span.ended - press.pressed_at >= HELD:
            # A click would be too short for what comes by holding a button.
            press.path = [press.place]
            return self._dragged(done, press)
        return self._clicked(done, press)

    def _goes_on(self, press: Press) -> bool:
        """Whether a press may be one more click of those that are under way."""
        draft = self._draft
        return (
            draft is not None
            and draft.operation == Operation.MOUSE_CLICK
            and draft.body.get("clicks", 1) < MOST_CLICKS
            and draft.is_said_secret == press.done.is_said_secret
            and draft.body.get("button", "left") == press.button
            and tuple(draft.body.get("modifiers", ())) == press.modifiers
            and press.pressed_at - self._clicked_at <= DOUBLE_CLICK
            and are_near(draft.place, press.place)
        )

    def _clicked(self, done: Done, press: Press) -> list[Draft]:
        clicks, self._clicked_at = self._draft, press.pressed_at
        if clicks is not None and clicks is press.goes_on:
            clicks.body["clicks"] = clicks.body.get("clicks", 1) + 1
            clicks.pressed_at = self._clicked_at
            _go_on(clicks, done)
            return self._close() if clicks.body["clicks"] >= MOST_CLICKS else []
        click = self._pressed(done, press, Operation.MOUSE_CLICK, press.click())
        click.pressed_at = self._clicked_at
        return self._next(click)

    def _dragged(self, done: Done, press: Press) -> list[Draft]:
        if press.place is None:
            return [*self._close(), self._raw_draft(press.done), self._raw_draft(done)]
        body = press.drag(press.place, done.span.ended)
        return [*self._close(), self._pressed(done, press, Operation.MOUSE_DRAG, body)]

    def _scrolled(self, done: Done, body: bodies.ScrollMouse) -> list[Draft]:
        place, modifiers = self._place_of(body), self._modifiers()
        draft = self._draft
        if (
            draft is not None
            and draft.operation == Operation.MOUSE_SCROLL
            and draft.body["direction"] == body.direction
            and tuple(draft.body.get("modifiers", ())) == modifiers
            and are_near(draft.place, place)
            and draft.body["amount"] + body.amount <= bodies.MAX_SCROLL_STEPS
        ):
            draft.body["amount"] += body.amount
            _go_on(draft, done)
            return []
        own = at(place) | held_with(modifiers)
        own |= {"direction": body.direction, "amount": body.amount}
        return self._next(self._draft_of(done, Operation.MOUSE_SCROLL, own, place=place))

    def _key(self, done: Done, body: bodies.PressKeys) -> list[Draft]:
        closed: list[Draft] = []
        # What is released when a hand goes is several at once.
        for chord in parse_combination(body.text):
            if chord.key is None:
                is_down = body.down is True
                closed += self._modifier(done, chord.modifiers[0].name, is_down=is_down)
            elif body.down is False:
                closed += self._let_go(done, chord.key.name)
            else:
                closed += self._struck(done, chord.key)
        return closed

    def _struck(self, done: Done, key: Key) -> list[Draft]:
        before = self._draft
        copy = None if before is None else replace(before, body={**before.body})
        held = self._modifiers()
        may_be_kept = self._keep_texts and not done.is_said_secret
        types = character_of(key, held) is not None
        keys = combination(held, key) if may_be_kept or not types else None
        closed = self._stricken(done, key, held)
        self._stroke = _Stroke(done, key.name, keys, copy if self._draft is before else None)
        return closed

    def _stricken(self, done: Done, key: Key, held: tuple[str, ...]) -> list[Draft]:
        character = character_of(key, held)
        if character is not None:
            return self._typed(done, character)
        text = self._draft
        if key.name == "backspace" and not held and text is not None and _has_more(text.text):
            _add_to(text, done, (text.text or "")[:-1])
            return []
        return self._combined(done, combination(held, key))

    def _let_go(self, done: Done, name: str) -> list[Draft]:
        """A key goes up: it has repeated where it was down for long, and nothing was done since."""
        stroke = self._stroke
        if stroke is None or stroke.name != name:
            return []
        self._stroke = None
        milliseconds = done.span.ended - stroke.done.span.ended
        if milliseconds < HELD:
            return []
        if stroke.keys is None:
            return [*self._close(), gap(uuid4(), 0, REPEATED, done.span.ended)]
        # That is a step of its own, and no part of the one that it was put into.
        self._draft = stroke.before
        hold = round(min(milliseconds / 1000, bodies.MAX_HOLD_SECONDS), 3)
        body: dict[str, object] = {"text": stroke.keys, "hold": hold}
        held = self._draft_of(stroke.done, Operation.KEYBOARD_KEY, body)
        _go_on(held, done)
        return [*self._close(), held]

    def _modifier(self, done: Done, name: str, *, is_down: bool) -> list[Draft]:
        if is_down:
            self._held.setdefault(name, False)
            return []
        held = "+".join(self._held)
        if self._held.pop(name, True):
            return []
        # Those that are still down are a part of it.
        self._modifiers()
        return self._combined(done, held)

    def _combined(self, done: Done, keys: str) -> list[Draft]:
        """A combination; the same one again is pressed again in the same step."""
        draft = self._draft
        if (
            draft is not None
            and draft.operation == Operation.KEYBOARD_KEY
            and draft.is_said_secret == done.is_said_secret
        ):
            chords = draft.body["text"].split(" ")
            if chords[-1] == keys and len(chords) < MOST_CHORDS:
                draft.body["text"] += f" {keys}"
                _go_on(draft, done)
                return []
        return self._next(self._draft_of(done, Operation.KEYBOARD_KEY, {"text": keys}))

    def _typed(self, done: Done, text: str) -> list[Draft]:
        draft = self._draft
        if (
            draft is not None
            and draft.text is not None
            and len(draft.text) + len(text) <= MOST_CHARACTERS
            and draft.is_said_secret == done.is_said_secret
        ):
            _add_to(draft, done, draft.text + text)
            return []
        new = self._draft_of(done, Operation.KEYBOARD_TYPE, {})
        new.text = text
        return self._next(new)

    def _as_it_is(self, done: Done, body: bodies.ClickMouse) -> list[Draft]:
        """A press or a release alone."""
        if body.down:
            self._raw.add(body.button)
        else:
            self._raw.discard(body.button)
        return [self._raw_draft(done)]

    def _raw_draft(self, done: Done) -> Draft:
        place = self._place_of(done.body) if isinstance(done.body, bodies.ClickMouse) else None
        return self._draft_of(done, done.body.input_name, body_of(done.body), place=place)

    def _pressed(
        self, done: Done, press: Press, operation: Operation, body: dict[str, object]
    ) -> Draft:
        """A step that began with a press and ends with this."""
        draft = self._draft_of(press.done, operation, body, place=press.place)
        _go_on(draft, done)
        return draft

    def _draft_of(
        self,
        done: Done,
        operation: Operation,
        body: dict[str, object],
        *,
        place: Place | None = None,
    ) -> Draft:
        return Draft(
            command_id=done.command_id,
            index=0,
            sender=done.sender,
            through="hand",
            operation=operation.value,
            body=body,
            began=done.span.began,
            ended=done.span.ended,
            place=place,
            before=done.before,
            beneath=done.beneath,
            around=done.around,
            last_around=done.around,
            is_said_secret=done.is_said_secret,
        )

    def _place_of(self, body: bodies.ClickMouse | bodies.ScrollMouse) -> Place | None:
        if body.x is not None and body.y is not None:
            self._place = body.x, body.y
        return self._place

    def _modifiers(self) -> tuple[str, ...]:
        """Those that are held, with which something is done now."""
        self._held = dict.fromkeys(self._held, True)
        return tuple(self._held)


def _add_to(draft: Draft, done: Done, text: str) -> None:
    """A further key has made this of a draft's text."""
    draft.text, draft.inputs = text, draft.inputs + 1
    _go_on(draft, done)


def _strikes_nothing(keys: bodies.PressKeys) -> bool:
    """Whether a key goes up, or one goes down that is for what follows."""
    if keys.down is not True:
        return keys.down is False
    return all(chord.key is None for chord in parse_combination(keys.text))


def _has_more(text: str | None) -> bool:
    """Whether something is left of a text without its last character.

    The first one may have taken the place of what was selected, which stays away.
    """
    return text is not None and len(text) > 1


def _go_on(draft: Draft, done: Done) -> None:
    """A further event is the last of a draft now."""
    draft.ended, draft.last_around = done.span.ended, done.around


def _pause_of(draft: Draft) -> int:
    match draft.operation:
        case Operation.MOUSE_CLICK:
            return DOUBLE_CLICK
        case Operation.MOUSE_SCROLL:
            return WHEEL_PAUSE
        case Operation.KEYBOARD_KEY:
            return KEY_PAUSE
        case _:
            return TEXT_PAUSE
