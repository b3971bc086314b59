"""What a link needs around it."""

from server.machines.connection import MAX_REASON_BYTES, fitting


def test_reason_is_cut_at_a_characters_border() -> None:
    assert fitting("short") == "short"
    assert fitting("ü" * 100) == "ü" * (MAX_REASON_BYTES // 2)
