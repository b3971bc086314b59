"""libxkbcommon, by which real programs know what a key means; for the witness."""

import ctypes
import mmap

_library = ctypes.CDLL("libxkbcommon.so.0")
for _name in ("xkb_context_new", "xkb_keymap_new_from_string", "xkb_state_new"):
    getattr(_library, _name).restype = ctypes.c_void_p

_TEXT_V1 = 1
_FROM_KERNEL = 8


def keysym_from_name(name: str) -> int:
    """The number of a keysym."""
    return int(_library.xkb_keysym_from_name(name.encode(), 0))


def character_of(keysym: int) -> str:
    """The character that a keysym makes, if any."""
    code = _library.xkb_keysym_to_utf32(keysym)
    return chr(code) if code else ""


class KeyboardState:
    """A keymap that a compositor sent, and the modifiers in force."""

    def __init__(self, descriptor: int, size: int) -> None:
        with mmap.mmap(descriptor, size, mmap.MAP_PRIVATE, mmap.PROT_READ) as memory:
            text = memory[:size].rstrip(b"\0")
        context = ctypes.c_void_p(_library.xkb_context_new(0))
        self._keymap = ctypes.c_void_p(
            _library.xkb_keymap_new_from_string(context, text, _TEXT_V1, 0)
        )
        if not self._keymap:
            raise RuntimeError("libxkbcommon does not understand the keymap")
        self._state = ctypes.c_void_p(_library.xkb_state_new(self._keymap))
        _library.xkb_context_unref(context)

    def set_modifiers(self, depressed: int, latched: int, locked: int, group: int) -> None:
        _library.xkb_state_update_mask(self._state, depressed, latched, locked, 0, 0, group)

    def symbols(self, code: int) -> list[int]:
        """Every keysym that is on a key, by the kernel's number."""
        key = code + _FROM_KERNEL
        found = []
        for level in range(_library.xkb_keymap_num_levels_for_key(self._keymap, key, 0)):
            symbols = ctypes.POINTER(ctypes.c_uint32)()
            count = _library.xkb_keymap_key_get_syms_by_level(
                self._keymap, key, 0, level, ctypes.byref(symbols)
            )
            found += [symbols[index] for index in range(count)]
        return found

    def text(self, code: int) -> str:
        """What a program gets that asks what a key types now."""
        buffer = ctypes.create_string_buffer(16)
        _library.xkb_state_key_get_utf8(self._state, code + _FROM_KERNEL, buffer, 16)
        return buffer.value.decode()

    def close(self) -> None:
        _library.xkb_state_unref(self._state)
        _library.xkb_keymap_unref(self._keymap)
