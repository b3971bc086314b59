"""A short part of ``python -m tests.canaries``, and that what is sought would be found."""

import json
from base64 import b64encode
from pathlib import Path

from tests.canaries.looking import in_bytes, in_files, in_picture
from tests.canaries.run import Outcome, measured
from tests.canaries.runs import Fate, measured_in_runs
from tests.signs import drawn, png


def test_passwords_that_are_typed_while_it_is_recorded_are_found_nowhere(tmp_path: Path) -> None:
    outcome = measured(tmp_path, ["gtk4"], 3, pictures=1)["gtk4"]
    assert outcome.found == {}, outcome.table()
    assert outcome.secrets >= outcome.typed


def test_secrets_that_runs_type_are_found_nowhere_but_in_the_program(tmp_path: Path) -> None:
    outcome = measured_in_runs(tmp_path, ["terminal"], 4)
    assert (outcome.found, outcome.wrong, outcome.given) == ({}, [], 4), outcome.table()
    assert outcome.runs == [(Fate.HALTED, "success")]


def test_canary_is_found_where_it_is(tmp_path: Path) -> None:
    canaries = ["qwertzuiopas", "yxcvbnmasdfg"]
    assert in_bytes(b'{"text": "q w e r t z u i o p a s enter"}', canaries) == {canaries[0]}
    for before in (b"", b"a", b"of"):
        written = b64encode(before + canaries[0].encode() + b" in it")
        assert in_bytes(written, canaries) == {canaries[0]}
    assert in_bytes(json.dumps([*canaries[1]]).replace(" ", "").encode(), canaries) == {canaries[1]}
    (tmp_path / "log").write_bytes(bytes(1000) + canaries[1].encode() + bytes(1000))
    assert in_files(tmp_path, canaries) == {"log": {canaries[1]}}
    assert in_picture(png(drawn(f"Password: {canaries[0]}")), canaries) == {canaries[0]}
    found = Outcome(2, 5, 1, 3, {"log": {canaries[1]}})
    assert found.table().splitlines()[1:] == ["  1 in log"]
