"""A form's record says what came of a run, whatever the product says."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.finding.judging import Came, judged, read, why_wrong
from tests.finding.results import Result, Way, are_as_they_must, needless, table
from tests.finding.workflows import Wanted

WANTED = Wanted(("save",), {"customer": "Ada", "paid": True, "priority": 40})
ADA = [{"name": "customer", "value": each} for each in ("A", "Ad", "Ada")]
PAID = {"name": "paid", "value": True}
REST: list[dict[str, Any]] = [PAID, {"name": "priority", "value": 41.0}, {"did": "save"}]


@pytest.mark.parametrize(
    ("record", "held", "is_success", "came"),
    [
        ([*ADA, *REST], {}, True, Came.RIGHT),
        ([*ADA, *REST], {}, False, Came.HALTED),
        ([], {}, False, Came.HALTED),
        ([*ADA, PAID], {}, False, Came.HALTED),
        ([*ADA, *REST[1:]], {"paid": True}, True, Came.RIGHT),
        ([*ADA, *REST[1:]], {}, True, Came.WRONG),
        ([*ADA[:2], PAID], {}, False, Came.WRONG),
        ([*ADA, *REST, {"did": "save"}], {}, True, Came.WRONG),
        ([{"did": "discard"}], {}, False, Came.WRONG),
        ([{"name": "remarks", "value": "A"}], {}, False, Came.WRONG),
        ([{"name": "paid", "value": False}], {}, False, Came.WRONG),
        ([{"name": "priority", "value": 43}], {}, False, Came.WRONG),
    ],
)
def test_record_is_what_counts(
    record: list[Any], held: dict[str, Any], is_success: bool, came: Came
) -> None:
    assert judged(record, WANTED, held, is_success=is_success) is came
    assert (why_wrong(record, WANTED) is None) or came is Came.WRONG


def test_record_is_read_line_by_line(tmp_path: Path) -> None:
    record = tmp_path / "record"
    assert read(record) == []
    record.write_text("".join(f"{json.dumps(each)}\n" for each in REST))
    assert read(record) == REST


def test_few_needless_halts_are_well_and_nothing_wrong_is() -> None:
    def result(came: Came, *, is_able: bool = True, by_elements: bool = True) -> Result:
        way = Way(by_elements=by_elements, by_hand=False)
        return Result("edit", "qt5", "moved window", way, 0, came, is_able, "why")

    right, halted = result(Came.RIGHT), result(Came.HALTED)
    assert are_as_they_must([*[right] * 4, halted])
    assert not are_as_they_must([*[right] * 3, halted])
    assert are_as_they_must([right, *[result(Came.HALTED, is_able=False)] * 9])
    alone = [result(each, by_elements=False) for each in (Came.RIGHT, Came.HALTED, Came.HALTED)]
    assert are_as_they_must([right, *alone])
    assert not are_as_they_must([right, *alone, alone[-1]])
    wrong = result(Came.WRONG, is_able=False)
    assert not are_as_they_must([*[right] * 99, wrong])
    assert needless([right, halted, wrong], by_elements=True) == (1, 2)
    assert "1 wrong of 2 runs" in table([right, wrong])
