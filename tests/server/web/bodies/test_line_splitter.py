"""Lines come out as they are, however the text is cut when it comes."""

from hypothesis import given
from hypothesis import strategies as st

from server.web.bodies.line_splitter import Line, LineSplitter

LONGEST = 6


def split(pieces: list[bytes], longest: int = LONGEST) -> list[Line]:
    splitter = LineSplitter(longest)
    lines = [line for piece in pieces for line in splitter.add(piece)]
    return [*lines, *splitter.end()]


def plainly(text: bytes) -> list[Line]:
    lines = [
        Line(number, line if len(line) <= LONGEST else None)
        for number, line in enumerate(text.split(b"\n"), 1)
    ]
    return [line for line in lines if line.text is None or line.text.strip()]


@given(st.lists(st.text("ab \r\n", max_size=10).map(str.encode)))
def test_lines_are_those_of_the_whole_text(pieces: list[bytes]) -> None:
    assert split(pieces) == plainly(b"".join(pieces))


def test_blank_lines_count_and_do_not_come() -> None:
    assert split([b"a\n\n \r\nb\n"]) == [Line(1, b"a"), Line(4, b"b")]


def test_nothing_is_kept_of_a_line_that_is_too_long() -> None:
    splitter = LineSplitter(LONGEST)
    assert list(splitter.add(b"1234")) == []
    assert splitter.size == 4
    assert list(splitter.add(b"567")) == []
    assert splitter.size == 0
    assert list(splitter.add(b"8" * 100)) == []
    assert splitter.size == 0
    (line,) = splitter.add(b"\n")
    assert (line, line.size) == (Line(1, None), 0)
    assert list(splitter.add(b"next\n")) == [Line(2, b"next")]
