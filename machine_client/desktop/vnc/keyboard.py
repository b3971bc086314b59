"""Chords on the keyboard of a VNC server, which is told keysyms and finds keys for them itself."""

import threading
from collections.abc import Callable, Iterable, Iterator

from machine_client.desktop.base import Refusal, interrupted, key_refused
from machine_client.desktop.keysyms import NAMED_KEYSYMS
from machine_client.desktop.vnc.keysyms import keysym_of, needs_shift, with_shift
from machine_client.desktop.vnc.rfb.client_messages import key_event
from schemas.inputs.key_combinations import Chord, Key
from schemas.programs.failpoints import Failpoint, reached

SHIFT_KEYS = frozenset({NAMED_KEYSYMS["shift"], NAMED_KEYSYMS["shift_r"]})
_SHIFT = NAMED_KEYSYMS["shift"]
_LOCKS = {NAMED_KEYSYMS[name] for name in ("caps_lock", "num_lock", "scroll_lock")}

TAKEN_FOR_OTHERS = frozenset({"kp_separator"})
"""TigerVNC 1.12 presses the comma for it, QEMU 7.2 the keypad's point."""

_LACKED = frozenset(
    {"break", "browser_refresh", "browser_stop", *(f"f{number}" for number in range(13, 25))}
)
"""Named keys for which TigerVNC 1.12 has to find a place, where the layout is "us"."""

POSSIBLY_HELD = (
    *(number for number in NAMED_KEYSYMS.values() if number not in _LOCKS),
    *(code for code in range(0x20, 0x7F) if not needs_shift(chr(code))),
)
"""What an earlier client may have left pressed: nearly every key that is ever held down."""


class LackedKeys:
    """Which keys a server was asked for that its layout may lack: of one desktop, for one thread.

    These are characters beyond ASCII, and some named keys.  A server that is told one that its
    layout lacks gives it a key of its own.  TigerVNC has some twenty left for that, never takes one
    back, and says nothing when none is left: it drops what comes then.  So there is a bound, after
    which they are refused before anything is pressed.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._asked_for: set[str] = set()

    def check(self, chords: tuple[Chord, ...]) -> None:
        """Raise Refusal where too many would have been asked for."""
        asked_for = self._asked_for.copy()
        for key in _lacked_in(chords):
            asked_for.add(key.name.lower())
            if len(asked_for) > self._most:
                raise refusal(
                    key,
                    f"{key.name} would be one more than the {self._most} different characters"
                    " beyond ASCII, and keys that layouts lack, that this VNC server is taken to"
                    " have room for (setting vnc_characters)",
                )

    def note(self, chords: tuple[Chord, ...]) -> None:
        """These are asked for now."""
        self._asked_for.update(key.name.lower() for key in _lacked_in(chords))


def _lacked_in(chords: tuple[Chord, ...]) -> Iterator[Key]:
    return (key for chord in chords for key in chord.keys if _may_be_lacked(key))


def _may_be_lacked(key: Key) -> bool:
    return not key.name.isascii() if key.is_character else key.name in _LACKED


class Keyboard:
    """The keys that we hold; nobody knows of others'.

    ``send`` says one thing, and ``confirm`` waits until the server has read all of it.
    """

    def __init__(self, send: Callable[[bytes], None], confirm: Callable[[], None]) -> None:
        self._send_event = send
        self._confirm = confirm
        self._held: dict[Key, int] = {}

    def type(self, chords: tuple[Chord, ...], stop: threading.Event) -> None:
        """Press and release the chords one after another; a key that we hold stays held."""
        for number, chord in enumerate(chords):
            if stop.is_set():
                raise interrupted()
            if number == 0:
                self._be_the_keyboard_in_use(chord.keys)
            self._type_chord(chord)
            # So that whoever stops this finds it where the desktop is, and not a thousand ahead.
            self._confirm()

    def hold(self, chords: tuple[Chord, ...]) -> tuple[Key, ...]:
        """Press the keys, in order, and keep them pressed; a modifier that we hold stays so.

        Returns those that we did not hold before.
        """
        keys = list(dict.fromkeys(key for chord in chords for key in chord.keys))
        fresh = self._not_held(keys)
        self._be_the_keyboard_in_use(keys)
        try:
            for key in keys:
                if key in fresh:
                    self._press(key)
                elif not key.is_modifier:
                    self._press_again(key)
            self._confirm()
        except BaseException:
            self._let_go([key for key in fresh if key in self._held])
            raise
        return tuple(fresh)

    def release(self, chords: tuple[Chord, ...]) -> None:
        """Release the keys that we hold, the last one first; the others are up, as far as known."""
        for key in reversed([key for chord in chords for key in chord.keys]):
            self._let_go(self._held_as(key))

    def release_all(self) -> None:
        """Release every key that we hold."""
        self._let_go(list(self._held))

    def _be_the_keyboard_in_use(self, keys: Iterable[Key]) -> None:
        """Tap Shift where the first key to be pressed is one that the layout may lack.

        TigerVNC gives such a one a key, and then takes the layout from the keyboard that is used
        now, if that was another one before: what it gave is forgotten, and the next one gets the
        same key, so that a program reads nothing, or the wrong one.  Seen with 1.12 whenever
        nothing was typed before, and after the layout was set anew.
        """
        if not self._held and _may_be_lacked(next(iter(keys))):
            for down in (True, False):
                self._send(_SHIFT, down=down)
            self._confirm()

    def _type_chord(self, chord: Chord) -> None:
        fresh = self._not_held(chord.keys)
        struck = chord.keys[-1]
        shifts = self._shifts_for(struck, fresh)
        try:
            for key in fresh:
                if shifts and key is struck:
                    self._send(_SHIFT, down=True)
                self._press(key, shifted=True)
            if struck not in fresh:
                self._press_again(struck)
        finally:
            self._let_go([key for key in fresh if key in self._held])
            if shifts:
                self._send(_SHIFT, down=False)

    def _shifts_for(self, struck: Key, fresh: list[Key]) -> bool:
        """Whether Shift must be pressed for a key of a chord, and released after it."""
        if struck not in fresh or not struck.is_character or not needs_shift(struck.name):
            return False
        return not self._is_shifted and not any(number_of(key) in SHIFT_KEYS for key in fresh)

    @property
    def _is_shifted(self) -> bool:
        return not SHIFT_KEYS.isdisjoint(self._held.values())

    def _not_held(self, keys: Iterable[Key]) -> list[Key]:
        return [key for key in dict.fromkeys(keys) if key not in self._held]

    def _held_as(self, key: Key) -> list[Key]:
        """The key that we hold, which can be the same one under another name, as a and A."""
        if key in self._held:
            return [key]
        return [held for held in self._held if held.name.lower() == key.name.lower()]

    def _press(self, key: Key, *, shifted: bool = False) -> None:
        keysym = number_of(key)
        if key.is_character and self._is_shifted:
            # As a person's own keyboard would say it.
            keysym = keysym_of(with_shift(key.name))
        around = not shifted and key.is_character and needs_shift(key.name) and not self._is_shifted
        self._held[key] = keysym
        if around:
            self._send(_SHIFT, down=True)
        self._send(keysym, down=True)
        reached(Failpoint.AFTER_PRESS, self._confirm)
        if around:
            # Held any longer it would change the next key.
            self._send(_SHIFT, down=False)

    def _press_again(self, key: Key) -> None:
        """Type a key that we hold: the desktop sees it go up and down, and it stays held."""
        self._send(self._held[key], down=False)
        self._press(key)

    def _let_go(self, keys: list[Key]) -> None:
        for key in reversed(keys):
            self._send(self._held[key], down=False)
            del self._held[key]

    def _send(self, keysym: int, *, down: bool) -> None:
        self._send_event(key_event(keysym, down=down))


def check_names(chords: Iterable[Chord]) -> None:
    """Raise Refusal for a key that servers are known to take for another one."""
    for chord in chords:
        for key in chord.keys:
            if key.name in TAKEN_FOR_OTHERS:
                raise refusal(key, f"VNC servers take the key {key.name} for another one")


def refusal(key: Key, message: str) -> Refusal:
    """What says that a key of an input is not pressed, and nothing of the input is."""
    code = "character_not_typeable" if key.is_character else "key_not_typeable"
    return key_refused(key, code, message)


def number_of(key: Key) -> int:
    """What a server is told of a key."""
    return keysym_of(key.name) if key.is_character else NAMED_KEYSYMS[key.name]
