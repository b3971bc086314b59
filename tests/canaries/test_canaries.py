"""A short part of ``python -m tests.canaries``, and that what is sought would be found."""

from pathlib import Path

from tests.canaries.looking import in_bytes, in_files, in_picture
from tests.canaries.places import PLACES
from tests.canaries.run import Outcome, measured
from tests.signs import drawn, png


def test_passwords_that_are_typed_while_it_is_recorded_are_found_nowhere(tmp_path: Path) -> None:
    outcomes = measured(tmp_path, PLACES, 3, pictures=3)
    assert len(outcomes) == len(PLACES)
    for name, outcome in outcomes.items():
        assert outcome.found == {}, f"{name}: {outcome.table()}"
        assert outcome.secrets >= outcome.typed, name
    assert outcomes["gtk3"].pictures > 0


def test_canary_is_found_where_it_is(tmp_path: Path) -> None:
    canaries = ["qwertzuiopas", "yxcvbnmasdfg"]
    assert in_bytes(b'{"text": "q w e r t z u i o p a s enter"}', canaries) == {canaries[0]}
    (tmp_path / "log").write_text("yxcvbnmasdfg")
    assert in_files(tmp_path, canaries) == {"log": {canaries[1]}}
    assert in_picture(png(drawn(f"Password: {canaries[0]}")), canaries) == {canaries[0]}
    found = Outcome(2, 5, 1, 3, {"log": {canaries[1]}})
    assert found.table().splitlines()[1:] == ["  1 in log"]
