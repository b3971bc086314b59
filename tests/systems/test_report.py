"""What is said of several systems."""

from pathlib import Path

from tests.systems.report import Seen, read_results, told

RESULTS = """<testsuites><testsuite>
<testcase classname="tests.a" name="one"/>
<testcase classname="tests.a" name="two"><failure message="no"/></testcase>
<testcase classname="tests.a" name="three"><skipped/></testcase>
<testcase classname="tests.a" name="four"><error/></testcase>
</testsuite></testsuites>"""


def test_results_are_read(tmp_path: Path) -> None:
    (tmp_path / "results").write_text(RESULTS)
    assert read_results(tmp_path / "results") == {
        "tests.a::one": "passed",
        "tests.a::two": "failed",
        "tests.a::three": "skipped",
        "tests.a::four": "failed",
    }
    assert read_results(tmp_path / "none") == {}


def test_what_differs_is_said() -> None:
    old = Seen(25.4, {"sway": "1.7"}, {"a": "passed", "b": "passed", "c": "skipped"})
    new = Seen(None, {"sway": "1.10"}, {"a": "passed", "b": "failed"})
    assert told({"old": old, "new": new}) == [
        "old: demo 25 s; tests 2 passed, 0 failed, 1 skipped",
        "  sway 1.7",
        "new: demo failed; tests 1 passed, 1 failed, 0 skipped",
        "  sway 1.10",
        "what fails or differs:",
        "  b: passed on old, failed on new",
        "  c: skipped on old, absent on new",
    ]
    assert (old.is_well, new.is_well) == (True, False)


def test_system_without_tests_is_not_well() -> None:
    seen = Seen(20.0)
    assert told({"bare": seen}) == ["bare: demo 20 s; tests did not run"]
    assert not seen.is_well
