"""DES, as VNC's old password check needs it; for anything else it is far too weak.

After FIPS 46-3.  Bits are numbered from 1, the most significant first, as they are there.
"""

from collections.abc import Iterable, Iterator, Sequence

_INITIAL = (
    *(58, 50, 42, 34, 26, 18, 10, 2, 60, 52, 44, 36, 28, 20, 12, 4),
    *(62, 54, 46, 38, 30, 22, 14, 6, 64, 56, 48, 40, 32, 24, 16, 8),
    *(57, 49, 41, 33, 25, 17, 9, 1, 59, 51, 43, 35, 27, 19, 11, 3),
    *(61, 53, 45, 37, 29, 21, 13, 5, 63, 55, 47, 39, 31, 23, 15, 7),
)
_FINAL = tuple(_INITIAL.index(place) + 1 for place in range(1, 65))
_EXPANSION = tuple((4 * row + column - 2) % 32 + 1 for row in range(8) for column in range(1, 7))
_PERMUTATION = (
    *(16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10),
    *(2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6, 22, 11, 4, 25),
)
_KEY_CHOICE = (
    *(57, 49, 41, 33, 25, 17, 9, 1, 58, 50, 42, 34, 26, 18, 10, 2, 59, 51, 43, 35, 27),
    *(19, 11, 3, 60, 52, 44, 36, 63, 55, 47, 39, 31, 23, 15, 7, 62, 54, 46, 38, 30, 22),
    *(14, 6, 61, 53, 45, 37, 29, 21, 13, 5, 28, 20, 12, 4),
)
_ROUND_KEY_CHOICE = (
    *(14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10, 23, 19, 12, 4),
    *(26, 8, 16, 7, 27, 20, 13, 2, 41, 52, 31, 37, 47, 55, 30, 40),
    *(51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32),
)
_SHIFTS = (1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1)
_BOXES = tuple(
    tuple(int(digit, 16) for digit in box)
    for box in (
        "e4d12fb83a6c59070f74e2d1a6cb953841e8d62bfc973a50fc8249175b3ea06d",
        "f18e6b34972dc05a3d47f28ec01a69b50e7ba4d158c6932fd8a13f42b67c05e9",
        "a09e63f51dc7b428d709346a285ecbf1d6498f30b12c5ae71ad069874fe3b52c",
        "7de3069a1285bc4fd8b56f03472c1ae9a690cb7df13e52843f06a1d8945bc72e",
        "2c417ab6853fd0e9eb2c47d150fa3986421bad78f9c5630eb8c71e2d6f09a453",
        "c1af92680d34e75baf427c9561de0b389ef528c3704a1db6432c95fabe17608d",
        "4b2ef08d3c975a61d0b7491ae35c2f8614bdc37eaf6805926bd814a7950fe23c",
        "d2846fb1a93e50c71fd8a374c56b0e927b419ce206adf35821e74a8dfc90356b",
    )
)


def encrypt(key: bytes, block: bytes) -> bytes:
    """One block of eight bytes under a key of eight bytes, whose lowest bits do not count."""
    bits = _chosen(_bits(block), _INITIAL)
    left, right = bits[:32], bits[32:]
    for round_key in _round_keys(key):
        left, right = right, [a ^ b for a, b in zip(left, _mixed(right, round_key), strict=True)]
    return _bytes(_chosen(right + left, _FINAL))


def _round_keys(key: bytes) -> Iterator[list[int]]:
    halves = _chosen(_bits(key), _KEY_CHOICE)
    left, right = halves[:28], halves[28:]
    for shift in _SHIFTS:
        left, right = left[shift:] + left[:shift], right[shift:] + right[:shift]
        yield _chosen(left + right, _ROUND_KEY_CHOICE)


def _mixed(half: list[int], round_key: list[int]) -> list[int]:
    bits = [a ^ b for a, b in zip(_chosen(half, _EXPANSION), round_key, strict=True)]
    found: list[int] = []
    for number, box in enumerate(_BOXES):
        six = bits[6 * number : 6 * number + 6]
        row = 2 * six[0] + six[5]
        column = _number(six[1:5])
        found += _bits_of(box[16 * row + column], 4)
    return _chosen(found, _PERMUTATION)


def _chosen(bits: Sequence[int], places: Iterable[int]) -> list[int]:
    return [bits[place - 1] for place in places]


def _bits(data: bytes) -> list[int]:
    return [bit for byte in data for bit in _bits_of(byte, 8)]


def _bits_of(number: int, count: int) -> list[int]:
    return [number >> place & 1 for place in reversed(range(count))]


def _number(bits: Iterable[int]) -> int:
    number = 0
    for bit in bits:
        number = 2 * number + bit
    return number


def _bytes(bits: list[int]) -> bytes:
    return bytes(_number(bits[place : place + 8]) for place in range(0, len(bits), 8))
