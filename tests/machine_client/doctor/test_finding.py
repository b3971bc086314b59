"""A finding, as a person reads it."""

from machine_client.doctor.finding import Finding


def test_failure_and_doubt_are_seen_at_the_beginning_of_the_line() -> None:
    assert str(Finding("port", True, "it is open")) == "ok   port: it is open"
    assert str(Finding("port", False, "it is shut")) == "FAIL port: it is shut"
    assert str(Finding("port", True, "it is ajar", is_doubtful=True)) == "warn port: it is ajar"
    assert str(Finding("port", False, "it is shut", is_doubtful=True)) == "FAIL port: it is shut"
