"""Which packages the machine client needs on Windows, and their wheels: none is compiled.

pip downloads for another system, but decides by this one's which dependencies count.  So each
wheel's own list is read, as Windows would read it.
"""

import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterable
from email.parser import HeaderParser
from pathlib import Path

from packaging.requirements import Requirement

PROJECT = Path(__file__).parents[2]
CONSTRAINTS = PROJECT / "config" / "constraints.txt"

WINDOWS = {
    "sys_platform": "win32",
    "platform_system": "Windows",
    "platform_machine": "AMD64",
    "os_name": "nt",
    "python_version": "3.11",
    "python_full_version": "3.11.9",
    "platform_python_implementation": "CPython",
    "implementation_name": "cpython",
}
"""What a Windows Python says of itself where a dependency asks."""


def machine_requirements() -> list[Requirement]:
    """What ``farhand[machine]`` asks for on Windows."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    texts = [*project["dependencies"], *project["optional-dependencies"]["machine"]]
    return _wanted(map(Requirement, texts), frozenset())


def download_closure(wanted: Iterable[Requirement], directory: Path) -> None:
    """Download the wheels of packages and of all that they need, in the tested versions.

    Raises CalledProcessError where one has no wheel for Windows.
    """
    waiting = {_name(each): each for each in wanted}
    done: set[str] = set()
    while waiting:
        download([f"{each.name}{each.specifier}" for each in waiting.values()], directory)
        done |= waiting.keys()
        needed = {
            _name(each): each
            for asking in waiting.values()
            for each in _needs(_wheel(asking, directory), frozenset(asking.extras))
        }
        waiting = {name: each for name, each in needed.items() if name not in done}


def download(requirements: Iterable[str], directory: Path) -> None:
    """Download the wheels of these packages alone, for a 64-bit Windows and CPython 3.11."""
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "download", "-qq", "--disable-pip-version-check"),
            *("--no-deps", "--only-binary=:all:", "--platform=win_amd64", "--python-version=3.11"),
            *("--constraint", str(CONSTRAINTS), "--dest", str(directory), *requirements),
        ],
        check=True,
    )


def _needs(wheel: Path, extras: frozenset[str]) -> list[Requirement]:
    with zipfile.ZipFile(wheel) as archive:
        (file,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        headers = HeaderParser().parsestr(archive.read(file).decode())
    return _wanted(map(Requirement, headers.get_all("Requires-Dist", [])), extras)


def _wanted(requirements: Iterable[Requirement], extras: frozenset[str]) -> list[Requirement]:
    return [
        each
        for each in requirements
        if each.marker is None
        or any(each.marker.evaluate({**WINDOWS, "extra": extra}) for extra in extras | {""})
    ]


def _wheel(requirement: Requirement, directory: Path) -> Path:
    name = _name(requirement)
    (wheel,) = (
        wheel
        for wheel in directory.glob("*.whl")
        if _normalized(wheel.name.partition("-")[0]) == name
    )
    return wheel


def _name(requirement: Requirement) -> str:
    return _normalized(requirement.name)


def _normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
