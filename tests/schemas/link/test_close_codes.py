import pytest

from schemas.link.close_codes import MAX_REASON_BYTES, CloseCode, fitting, says_stop


def test_close_codes_say_whether_to_come_back() -> None:
    for code in CloseCode:
        assert 4000 <= code <= 4999
        assert code.says_stop == (code >= 4500)
    assert CloseCode.TOKEN_REVOKED.says_stop
    assert not CloseCode.SERVER_STOPPING.says_stop


@pytest.mark.parametrize(
    ("code", "stop"), [(None, False), (1006, False), (4499, False), (4777, True), (5000, False)]
)
def test_unknown_close_codes_are_judged_by_their_range(code: int | None, stop: bool) -> None:
    assert says_stop(code) is stop


def test_reason_is_cut_at_a_characters_border() -> None:
    assert fitting("short") == "short"
    assert fitting("ü" * 100) == "ü" * (MAX_REASON_BYTES // 2)
