"""What Windows asks for is decided as Windows would, and not as this system does."""

import zipfile
from pathlib import Path

from packaging.requirements import Requirement

from tests.wine import wheels


def test_what_exists_for_linux_alone_is_not_asked_for() -> None:
    names = {each.name for each in wheels.machine_requirements()}
    assert {"pydantic", "pynput", "mss", "pillow", "websockets"} <= names
    assert not names & {"uvloop", "python-xlib", "evdev"}


def test_what_a_wheel_needs_is_read_as_windows_reads_it(tmp_path: Path) -> None:
    wheel = tmp_path / "some_package-1.0-py3-none-any.whl"
    needs = (
        'colorama; sys_platform == "win32"',
        'evdev; sys_platform == "linux"',
        'extra-one; extra == "one"',
        'extra-two; extra == "two"',
        "always",
    )
    with zipfile.ZipFile(wheel, "w") as archive:
        lines = ["Metadata-Version: 2.1", *(f"Requires-Dist: {each}" for each in needs), "", ""]
        archive.writestr("some_package-1.0.dist-info/METADATA", "\n".join(lines))
    found = wheels._wheel(Requirement("Some.Package"), tmp_path)
    assert {each.name for each in wheels._needs(found, frozenset({"one"}))} == {
        *("colorama", "extra-one", "always"),
    }
