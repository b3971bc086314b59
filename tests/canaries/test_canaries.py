"""A short part of ``python -m tests.canaries``, and that what is sought would be found."""

from pathlib import Path

from tests.canaries.looking import in_bytes, in_files, in_picture
from tests.canaries.run import Outcome, measured
from tests.signs import drawn, png


def test_passwords_that_are_typed_while_it_is_recorded_are_found_nowhere(tmp_path: Path) -> None:
    outcome = measured(tmp_path, ["gtk4"], 3, pictures=1)["gtk4"]
    assert outcome.found == {}, outcome.table()
    assert outcome.secrets >= outcome.typed


def test_canary_is_found_where_it_is(tmp_path: Path) -> None:
    canaries = ["qwertzuiopas", "yxcvbnmasdfg"]
    assert in_bytes(b'{"text": "q w e r t z u i o p a s enter"}', canaries) == {canaries[0]}
    (tmp_path / "log").write_text("yxcvbnmasdfg")
    assert in_files(tmp_path, canaries) == {"log": {canaries[1]}}
    assert in_picture(png(drawn(f"Password: {canaries[0]}")), canaries) == {canaries[0]}
    found = Outcome(2, 5, 1, 3, {"log": {canaries[1]}})
    assert found.table().splitlines()[1:] == ["  1 in log"]
