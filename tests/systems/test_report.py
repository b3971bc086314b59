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
    old = Seen(25.4, True, {"sway": "1.7"}, {"a": "passed", "b": "passed", "c": "skipped"})
    new = Seen(None, False, {"sway": "1.10"}, {"a": "passed", "b": "failed"})
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


def test_demo_that_takes_two_minutes_is_not_well() -> None:
    assert Seen(119.9, True, tests={"a": "passed"}).is_well
    late = Seen(120.0, True, tests={"a": "passed"})
    assert told({"slow": late})[0] == (
        "slow: demo 120 s, which is not within 120 s; tests 1 passed, 0 failed, 0 skipped"
    )
    assert not late.is_well


def test_command_that_fails_without_a_test_that_does_is_not_well() -> None:
    seen = Seen(20.0, False, tests={"a": "passed"})
    assert told({"bare": seen}) == [
        "bare: demo 20 s; tests 1 passed, 0 failed, 0 skipped",
        "  make test failed, though none of its tests did",
    ]
    assert not seen.is_well
