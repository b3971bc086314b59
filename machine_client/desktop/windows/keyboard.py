"""Chords by the keys of the layout, and characters that it lacks as themselves.

A chord that is pressed and released is one call: the system lets nothing come between, and a kill
leaves none of it pressed.  Letters and digits are pressed as the keys that they are on, with their
scan codes.  Any other character that stands alone is sent as Unicode, which no layout, dead key or
lock changes; where modifiers are held, it is its key, as in ctrl+plus.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from machine_client.desktop.base import DesktopError, held_by_others, interrupted, key_refused
from machine_client.desktop.windows import session
from machine_client.desktop.windows.holding import Holding, Sends
from machine_client.desktop.windows.keys import ALTGR, MODIFIERS, NAMED_KEYS, WindowsKey
from machine_client.desktop.windows.layout import Stroke, locks_capitals, stroke_of
from machine_client.desktop.windows.sending import Event, KeyEvent, UnitEvent
from schemas.inputs.key_combinations import Chord, Key
from schemas.programs.failpoints import Failpoint, reached


class Keyboard:
    """What is typed, and the keys that we hold.

    Modifiers that we hold count for what is typed next, and other keys that we hold go up and down
    again.  Modifiers that others hold are set aside in the same call as a chord.  Any other key
    that others hold could not be pressed, and is a DesktopError of code "already_down".
    """

    def __init__(
        self,
        sender: Sends,
        holding: Holding,
        stroke: Callable[[str], Stroke | None] = stroke_of,
        capitals: Callable[[], bool] = locks_capitals,
    ) -> None:
        self._sender = sender
        self._holding = holding
        self._stroke_of = stroke
        self._locks_capitals = capitals
        self._held: dict[Key, tuple[WindowsKey, ...]] = {}
        self._down: Counter[WindowsKey] = Counter()

    def check(self, chords: tuple[Chord, ...], *, hold: bool) -> None:
        """Raise Refusal where Windows has no such key, or one that is to be held is on none."""
        for key in dict.fromkeys(key for chord in chords for key in chord.keys):
            if not key.is_character and key.name not in NAMED_KEYS:
                raise key_refused(key, "key_not_typeable", f"Windows has no key {key.name}")
            if hold and key.is_character and self._stroke_of(key.name) is None:
                raise key_refused(
                    key,
                    "character_not_typeable",
                    f"The keyboard layout lacks {key.name}: it can be typed, and not be held",
                )

    def type(self, chords: tuple[Chord, ...], stop: threading.Event) -> None:
        """Press and release the chords one after another; a key that we hold stays held."""
        self._refuse_others_keys(chords)
        for index, chord in enumerate(chords):
            if stop.is_set():
                raise interrupted()
            session.check()
            session.check_window_in_front()
            if index:
                self._refuse_others_keys((chord,))
            self._sender.send(*self._events_of(chord))
            reached(Failpoint.AFTER_PRESS)

    def hold(self, chords: tuple[Chord, ...]) -> tuple[Key, ...]:
        """Press the keys, in order, and keep them pressed; a modifier that we hold stays so.

        Returns those that we did not hold before.
        """
        session.check_window_in_front()
        self._refuse_others_keys(chords, hold=True)
        keys = list(dict.fromkeys(key for chord in chords for key in chord.keys))
        fresh = tuple(key for key in keys if key not in self._held)
        try:
            for key in keys:
                if key in fresh:
                    self._press(key)
                elif not key.is_modifier:
                    self._sender.send(*_again(self._held[key][-1]))
        except BaseException:
            self._let_go(fresh)
            raise
        return fresh

    def press_modifiers(self, keys: tuple[Key, ...]) -> tuple[Key, ...]:
        """Press those that we do not hold, and keep them pressed."""
        for key in keys:
            if key not in self._held and self._is_of_others(NAMED_KEYS[key.name]):
                raise held_by_others(f"the key {key.name}")
        return self.hold((Chord(keys, None),))

    def release(self, chords: tuple[Chord, ...]) -> None:
        """Release the keys that we hold, the last one first; those that nobody holds are up."""
        keys = [key for chord in chords for key in chord.keys]
        for key in keys:
            found = None if self._held_as(key) else self._find(key, alone=False)
            if found is not None and self._holding.key_of_others(found.key):
                raise held_by_others(f"the key {key.name}")
        for key in reversed(keys):
            self._let_go(self._held_as(key))

    def release_all(self) -> None:
        """Release every key that we hold."""
        self._let_go(list(self._held))

    def _events_of(self, chord: Chord) -> list[Event]:
        """All events of a chord that is pressed and released."""
        needed: list[WindowsKey] = []
        struck: list[Event] = []
        for key in chord.keys:
            stroke = self._find(key, alone=self._stands_alone(chord))
            if stroke is None:
                struck += _unicode(key.name)
                continue
            needed += [each for each in stroke.held if each not in (*self._holding.keys, *needed)]
            if stroke.key in self._holding.keys:
                struck += _again(stroke.key) if key is chord.keys[-1] else ()
            elif stroke.key not in needed:
                needed.append(stroke.key)
        # A modifier that somebody else holds serves us as well, and stays theirs.
        down = [key for key in needed if key not in MODIFIERS or not self._is_of_others(key)]
        aside = [key for key in self._in_the_way(chord) if key not in needed]
        return [
            *(KeyEvent(key, False) for key in aside),
            *(KeyEvent(key, True) for key in down),
            *struck,
            *(KeyEvent(key, False) for key in reversed(down)),
            *(KeyEvent(key, True) for key in reversed(aside)),
        ]

    def _in_the_way(self, chord: Chord) -> list[WindowsKey]:
        """The modifiers that others hold, and those of ours that only make a held character."""
        others = [key for key in MODIFIERS if self._is_of_others(key)]
        if chord.key is None or not chord.key.is_character:
            return others
        found = self._find(chord.key, alone=self._stands_alone(chord))
        wanted = () if found is None else found.held
        makes = {
            part
            for key, parts in self._held.items()
            for part in (() if key.is_modifier else parts[:-1])
        }
        own = {parts[-1] for key, parts in self._held.items() if key.is_modifier}
        return [*others, *(part for part in makes - own if part not in wanted)]

    def _is_of_others(self, key: WindowsKey) -> bool:
        return self._holding.key_of_others(key)

    def _stands_alone(self, chord: Chord) -> bool:
        return not chord.modifiers and not any(key.is_modifier for key in self._held)

    def _press(self, key: Key) -> None:
        stroke = self._find(key, alone=False)
        if stroke is None:
            # Only where the layout was changed after `check`.
            raise DesktopError("character_not_typeable", f"The keyboard now lacks {key.name}")
        # Recorded one by one before each press, so that whatever goes wrong is let go.
        self._held[key] = ()
        for part in (*stroke.held, stroke.key):
            self._held[key] += (part,)
            self._down[part] += 1
            if self._down[part] == 1:
                self._holding.press_key(part)
            elif part == stroke.key and part not in MODIFIERS:
                self._sender.send(*_again(part))

    def _let_go(self, keys: Sequence[Key]) -> None:
        for key in reversed(keys):
            for part in reversed(self._held.pop(key, ())):
                self._down[part] -= 1
                if not self._down[part]:
                    del self._down[part]
                    self._holding.release_key(part)

    def _held_as(self, key: Key) -> list[Key]:
        """The key that we hold, which can be on the same one under another name, as a and A."""
        if key in self._held:
            return [key]
        found = self._find(key, alone=False)
        return [
            held
            for held, parts in self._held.items()
            if found is not None and parts[-1:] == (found.key,)
        ]

    def _find(self, key: Key, *, alone: bool) -> Stroke | None:
        """The stroke for a key; None is that it is sent as Unicode."""
        if not key.is_character:
            named = NAMED_KEYS.get(key.name)
            return None if named is None else Stroke(named)
        stroke = self._stroke_of(key.name)
        if stroke is None or not alone:
            return stroke
        is_plain = (key.name.isalnum() or key.name == " ") and ALTGR not in stroke.held
        return stroke if is_plain and not self._is_locked(key.name) else None

    def _is_locked(self, character: str) -> bool:
        return character.isalpha() and self._locks_capitals()

    def _refuse_others_keys(self, chords: Iterable[Chord], *, hold: bool = False) -> None:
        for chord in chords:
            alone = not hold and self._stands_alone(chord)
            for key in chord.keys:
                found = self._find(key, alone=alone)
                if (
                    found is not None
                    and found.key not in MODIFIERS
                    and self._holding.key_of_others(found.key)
                ):
                    raise held_by_others(f"the key {key.name}")


def _again(key: WindowsKey) -> tuple[Event, ...]:
    """What types a key that we hold: the desktop sees it go up and down, and it stays held."""
    return KeyEvent(key, False), KeyEvent(key, True)


def _unicode(character: str) -> list[Event]:
    content = character.encode("utf-16-le", "surrogatepass")
    units = [content[at] | content[at + 1] << 8 for at in range(0, len(content), 2)]
    return [UnitEvent(unit, down) for unit in units for down in (True, False)]
