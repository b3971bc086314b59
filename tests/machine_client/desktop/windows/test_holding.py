"""What we hold is known, on record before it is pressed, and released after a kill."""

from pathlib import Path

import pytest

from machine_client.desktop.base import DesktopError
from machine_client.desktop.windows import holding
from machine_client.desktop.windows.holding import Holding, Record
from machine_client.desktop.windows.keys import NAMED_KEYS, WindowsKey
from machine_client.desktop.windows.sending import KeyEvent
from schemas.link.messages import Released
from tests.machine_client.desktop.windows.fakes import BUTTON_CODES, FakeStream, told

CTRL, RIGHT_CTRL = NAMED_KEYS["ctrl"], NAMED_KEYS["ctrl_r"]


def holds(directory: Path, stream: FakeStream, session: str = "boot/1") -> Holding:
    record = Record(directory, session)
    return Holding(stream, record, stream.is_down, BUTTON_CODES.__getitem__)


def die(client: Holding) -> None:
    """End as a kill does: the system closes the file, and nothing else happens."""
    client._record.close(keeps=True)


def test_what_a_dead_client_held_is_released_once_and_told(tmp_path: Path) -> None:
    stream = FakeStream()
    first = holds(tmp_path, stream)
    first.press_button("left")
    first.press_key(CTRL)
    first.press_key(RIGHT_CTRL)
    first.release_key(CTRL)
    die(first)
    stream.take()
    second = holds(tmp_path, stream)
    assert second.release_left_behind() == Released(buttons=["left"], keys=1)
    assert told(stream.take()) == ["-left", "-ctrl_r"]
    die(second)
    assert holds(tmp_path, stream).release_left_behind() is None


def test_what_went_up_since_is_left_alone(tmp_path: Path) -> None:
    stream = FakeStream()
    first = holds(tmp_path, stream)
    first.press_key(CTRL)
    die(first)
    stream.down.clear()  # a person has pressed and released it
    assert holds(tmp_path, stream).release_left_behind() is None


def test_another_logon_has_nothing_of_the_last_ones(tmp_path: Path) -> None:
    stream = FakeStream()
    first = holds(tmp_path, stream)
    first.press_key(CTRL)
    die(first)
    assert holds(tmp_path, stream, "boot/2").release_left_behind() is None


def test_what_a_living_client_holds_is_its_own(tmp_path: Path) -> None:
    stream = FakeStream()
    first, second = holds(tmp_path, stream), holds(tmp_path, stream)
    first.press_key(CTRL)
    assert second.release_left_behind() is None
    third = holds(tmp_path, stream)
    assert third.release_left_behind() is None
    assert first.key_of_others(CTRL) is False
    assert second.key_of_others(CTRL) is True


def test_client_that_held_nothing_at_its_end_leaves_nothing(tmp_path: Path) -> None:
    stream = FakeStream()
    first = holds(tmp_path, stream)
    first.press_button("right")
    first.release_button("right")
    first.close()
    first.close()
    assert {file.read_bytes() for file in tmp_path.iterdir()} == {b""}


def test_what_could_not_be_released_stays_on_record(tmp_path: Path) -> None:
    stream = FakeStream()
    first = holds(tmp_path, stream)
    first.press_key(CTRL)
    first.close()
    assert holds(tmp_path, stream).release_left_behind() == Released(buttons=[], keys=1)


def test_press_that_is_not_seen_is_an_error_and_still_released(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(holding, "_PATIENCE_SECONDS", 0.0)
    stream = FakeStream()
    stream.is_deaf = True
    client = holds(tmp_path, stream)
    with pytest.raises(DesktopError) as caught:
        client.press_button("left")
    assert caught.value.code == "input_not_taken"
    client.release_button("left")
    assert told(stream.take()) == ["+left", "-left"]


@pytest.mark.parametrize("content", [b"", b"\xff\n", b"boot/1 left,1/2,1/2/3/4,x/y/z\n", b"boot/1"])
def test_damaged_record_costs_nothing_else(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "held-0").write_bytes(content)
    stream = FakeStream()
    stream.down.add(1)
    released = holds(tmp_path, stream).release_left_behind()
    assert released == (Released(buttons=["left"], keys=0) if b"left" in content else None)


def test_record_that_was_longer_before_says_what_it_said_last(tmp_path: Path) -> None:
    stream = FakeStream()
    first = holds(tmp_path, stream)
    keys = [WindowsKey(0x100 + number, number) for number in range(100)]
    for key in keys:
        first.press_key(key)
    for key in keys[1:]:
        first.release_key(key)
    stream.down.add(keys[99].code)  # somebody else's by now
    stream.take()
    first.close()
    assert holds(tmp_path, stream).release_left_behind() == Released(buttons=[], keys=1)
    assert [event.key for event in stream.take() if isinstance(event, KeyEvent)] == keys[:1]


def test_without_a_place_for_the_record_the_rest_works(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    stream = FakeStream()
    client = holds(tmp_path / "file" / "below", stream)
    client.press_key(CTRL)
    client.release_key(CTRL)
    client.close()
    assert told(stream.take()) == ["+ctrl", "-ctrl"]
