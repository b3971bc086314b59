"""DES, by vectors that were published."""

import pytest

from machine_client.desktop.vnc.rfb.des import encrypt


@pytest.mark.parametrize(
    ("key", "block", "encrypted"),
    [
        ("133457799bbcdff1", "0123456789abcdef", "85e813540f0ab405"),
        ("0e329232ea6d0d73", "8787878787878787", "0000000000000000"),
        ("0000000000000000", "0000000000000000", "8ca64de9c1b123a7"),
        ("ffffffffffffffff", "ffffffffffffffff", "7359b2163e4edc58"),
        ("0123456789abcdef", "4e6f772069732074", "3fa40e8a984d4815"),
        ("7ca110454a1a6e57", "01a1d6d039776742", "690f5b0d9a26939b"),
    ],
)
def test_block_is_encrypted(key: str, block: str, encrypted: str) -> None:
    assert encrypt(bytes.fromhex(key), bytes.fromhex(block)).hex() == encrypted


def test_lowest_bits_of_a_key_do_not_count() -> None:
    assert encrypt(bytes(8), b"12345678") == encrypt(bytes([1] * 8), b"12345678")
