"""What arrived at the demo's window, without any window: events in, a picture's content out."""

from collections import Counter, deque
from dataclasses import dataclass, field

DRAG_PIXELS = 4
"""A button released farther than this from its press was a drag, else a click."""

REPEATED_CLICK_MS = 500
"""Clicks at one place within this time are a double and a triple click."""

BUTTONS = {1: "left", 2: "middle", 3: "right", 8: "back", 9: "forward"}
WHEEL = {4: "up", 5: "down", 6: "left", 7: "right"}

# The picture stays readable, and the memory bounded, however long the window is open.
_KEPT_STROKES, _KEPT_MARKS, _KEPT_KEYS, _KEPT_LINES = 200, 60, 60, 40
_KEPT_PLACES, _SHOWN_CHARACTERS = 4000, 26


@dataclass
class Stroke:
    """The way of the pointer while a button was down, in pixels."""

    button: str
    places: list[tuple[int, int]]

    @property
    def is_drag(self) -> bool:
        """Whether the pointer was ever far from where the button was pressed."""
        x, y = self.places[0]
        return any(max(abs(x - a), abs(y - b)) > DRAG_PIXELS for a, b in self.places)


@dataclass
class Mark:
    """Clicks of one button at one place; ``last_ms`` is the X server's time of the last press."""

    button: str
    x: int
    y: int
    clicks: int
    last_ms: int

    def is_repeated_by(self, stroke: Stroke, pressed_ms: int) -> bool:
        """Whether a further click belongs to this one, as toolkits count them."""
        x, y = stroke.places[0]
        return (
            stroke.button == self.button
            and max(abs(x - self.x), abs(y - self.y)) <= DRAG_PIXELS
            and 0 <= pressed_ms - self.last_ms <= REPEATED_CLICK_MS
        )


@dataclass
class Keys:
    """What one cap shows: a run of characters that were typed, or one chord by its names."""

    text: str
    is_chord: bool


@dataclass
class _Line:
    kind: str
    text: str
    times: int = 1

    def __str__(self) -> str:
        return self.text if self.times == 1 else f"{self.text} x{self.times}"


@dataclass
class Arrivals:
    """Everything that the window shows.

    Its methods take one event each, in the order of the events, and return the line that tells of
    what has just been completed, such as ``drag left 10,20 to 300,20``; empty if nothing was.
    """

    pointer: tuple[int, int] | None = None
    strokes: deque[Stroke] = field(default_factory=lambda: deque(maxlen=_KEPT_STROKES))
    marks: deque[Mark] = field(default_factory=lambda: deque(maxlen=_KEPT_MARKS))
    notches: Counter[str] = field(default_factory=Counter)
    keys: deque[Keys] = field(default_factory=lambda: deque(maxlen=_KEPT_KEYS))
    held: dict[str, Stroke] = field(default_factory=dict)
    modifiers: list[str] = field(default_factory=list)
    _pressed_ms: dict[str, int] = field(default_factory=dict)
    _lines: deque[_Line] = field(default_factory=lambda: deque(maxlen=_KEPT_LINES))
    _lone_modifier: str | None = None

    @property
    def lines(self) -> list[str]:
        """What arrived, oldest first; the same thing several times is one line."""
        return [str(line) for line in self._lines]

    def pointer_moved(self, x: int, y: int) -> str:
        """Follow the pointer."""
        self.pointer = (x, y)
        for stroke in self.held.values():
            stroke.places.append((x, y))
            if len(stroke.places) > _KEPT_PLACES:
                # A coarser way is the same picture, and one request to the X server.
                del stroke.places[1:-1:2]
        return ""

    def button_pressed(self, number: int, x: int, y: int, time_ms: int) -> str:
        """Begin a stroke, or count a notch of the wheel."""
        self.pointer = (x, y)
        if direction := WHEEL.get(number):
            self.notches[direction] += 1
            return self._note(f"scroll {direction}", f"scroll {direction}")
        button = BUTTONS.get(number, f"button {number}")
        self.held[button] = Stroke(button, [(x, y)])
        self._pressed_ms[button] = time_ms
        return ""

    def button_released(self, number: int, x: int, y: int) -> str:
        """End a stroke: it was a drag or a click."""
        button = BUTTONS.get(number, f"button {number}")
        stroke = self.held.pop(button, None)
        if number in WHEEL or stroke is None:
            return ""
        stroke.places.append((x, y))
        if not stroke.is_drag:
            return self._clicked(stroke, self._pressed_ms[button])
        self.strokes.append(stroke)
        start_x, start_y = stroke.places[0]
        text = f"drag {button} {start_x},{start_y} to {x},{y}"
        return self._note(text, text)

    def _clicked(self, stroke: Stroke, pressed_ms: int) -> str:
        x, y = stroke.places[0]
        last = self.marks[-1] if self.marks else None
        if last is not None and last.is_repeated_by(stroke, pressed_ms):
            last.clicks += 1
            last.last_ms = pressed_ms
        else:
            self.marks.append(Mark(stroke.button, x, y, 1, pressed_ms))
        text = f"click {stroke.button} {x},{y}"
        return self._note(text, text)

    def modifier_pressed(self, name: str) -> str:
        """Hold a modifier, which becomes a part of the chords that follow."""
        if name not in self.modifiers:
            self.modifiers.append(name)
        self._lone_modifier = name
        return ""

    def modifier_released(self, name: str) -> str:
        """Let go of a modifier; one that was pressed for itself is a key like others."""
        if name in self.modifiers:
            self.modifiers.remove(name)
        if self._lone_modifier != name:
            return ""
        self._lone_modifier = None
        return self._typed("+".join([*self.modifiers, name]), is_chord=True)

    def key_pressed(self, name: str, *, is_character: bool) -> str:
        """Take a key with the modifiers that are held.

        ``name`` of a character is the character itself, with Shift and AltGr already in it.
        """
        self._lone_modifier = None
        silent = ("shift", "altgr") if is_character else ()
        chord = [*(held for held in self.modifiers if held not in silent), name]
        return self._typed("+".join(chord), is_chord=len(chord) > 1 or not is_character)

    def _typed(self, text: str, *, is_chord: bool) -> str:
        last = self.keys[-1] if self.keys else None
        if last is not None and not is_chord and not last.is_chord:
            last.text += text
            last.text = last.text[-_KEPT_KEYS:]
            if self._lines and self._lines[-1].kind == "characters":
                run = self._lines[-1].text.removeprefix("key ") + text
                self._lines[-1].text = f"key {run[-_SHOWN_CHARACTERS:]}"
                return f"key {text}"
        else:
            self.keys.append(Keys(text, is_chord))
        self._note("characters" if not is_chord else f"key {text}", f"key {text}")
        return f"key {text}"

    def _note(self, kind: str, text: str) -> str:
        if self._lines and self._lines[-1].kind == kind and kind != "characters":
            self._lines[-1].times += 1
        else:
            self._lines.append(_Line(kind, text))
        return text
