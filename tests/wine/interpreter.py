"""Puts a Windows CPython together from packages, and runs it under Wine.

There is no package of a Windows Python.  A wheel of panda3d, which packs programs for Windows, has
CPython's own library and modules for them; the standard library is this system's, of the same
minor version; ``python.exe`` is three lines of ours.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement

from tests.wine.wheels import CONSTRAINTS, PROJECT, download, download_closure, machine_requirements

HOME = PROJECT / ".venv" / "wine"
"""Where all of it is kept; git ignores it."""

HERE = Path(__file__).parent
RUNTIME = "panda3d==1.10.16"
RUNTIME_SHA256 = "37acfb92655c4226879f95c988e2ef1449a53c54486d6c1ebc00e2772429af82"
INGREDIENTS = ("interpreter.py", "wheels.py", "python.c", "process_prng.c")
TEST_PACKAGES = ("pytest", "pytest-timeout")
PROGRAMS = Path("/usr/lib/wine")
"""Where Debian has Wine's programs, when the commands for people are not installed as well."""
WINE = str(PROGRAMS / "wine64")
WINESERVER = str(PROGRAMS / "wineserver64")
COMPILER = "x86_64-w64-mingw32-gcc"
DLLTOOL = "x86_64-w64-mingw32-dlltool"


class WineError(Exception):
    """The interpreter cannot be put together here; the message says what is missing."""


def prepare() -> Path:
    """The directory with the interpreter and Wine's prefix, made where it is not there yet."""
    if sys.version_info[:2] != (3, 11):
        raise WineError(
            "The Windows Python of the tests is 3.11, and takes its standard library from here: "
            "make install PYTHON=python3.11"
        )
    made = HOME / _fingerprint()
    if not made.exists():
        shutil.rmtree(HOME, ignore_errors=True)
        unfinished = HOME / "unfinished"
        _put_together(unfinished / "python")
        _make_prefix(unfinished)
        unfinished.rename(made)
    return made


def environment(home: Path, display: str) -> dict[str, str]:
    """What a program under Wine needs of its environment."""
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("PYTHON")},
        "WINEPREFIX": str(home / "prefix"),
        "WINEDEBUG": "-all",
        # Neither .NET nor a browser is wanted.
        "WINEDLLOVERRIDES": "mscoree,mshtml=",
        "DISPLAY": display,
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONUTF8": "1",
    }


def windows_path(path: Path) -> str:
    """How Windows calls a file of this system."""
    return "Z:" + str(path).replace("/", "\\")


def command(home: Path, *arguments: str) -> list[str]:
    """How the interpreter is started with these arguments."""
    return [WINE, str(home / "python" / "python.exe"), *arguments]


def _fingerprint() -> str:
    """Another one for every change of what it is made of."""
    parts = [CONSTRAINTS.read_bytes(), (PROJECT / "pyproject.toml").read_bytes()]
    parts += [(HERE / name).read_bytes() for name in INGREDIENTS]
    parts += [sys.version.encode()]
    return hashlib.sha256(b"".join(parts)).hexdigest()[:16]


def _put_together(python: Path) -> None:
    wheels = HOME / "wheels"
    for directory in (python, wheels):
        directory.mkdir(parents=True)
    _unpack_runtime(wheels, python)
    library = Path(sysconfig.get_path("stdlib"))
    left_out = ("lib-dynload", "site-packages", "dist-packages", "test", "__pycache__", "config-*")
    shutil.copytree(library, python / "Lib", ignore=shutil.ignore_patterns(*left_out))
    _compile_program(python)
    wanted = [*machine_requirements(), *map(Requirement, TEST_PACKAGES)]
    download_closure(wanted, wheels)
    for wheel in wheels.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(python / "Lib" / "site-packages")
    _make_known(python / "Lib" / "site-packages")


def _make_known(packages: Path) -> None:
    """Have the interpreter find this clone, and the version that is installed from it."""
    installed = Path(str(distribution("farhand").locate_file("")))
    (known,) = installed.glob("farhand-*.dist-info")
    shutil.copytree(known, packages / known.name)
    (packages / "farhand.pth").write_text(f"{windows_path(PROJECT)}\n")


def _unpack_runtime(wheels: Path, python: Path) -> None:
    download([RUNTIME], wheels)
    (wheel,) = wheels.glob("*.whl")
    if hashlib.sha256(wheel.read_bytes()).hexdigest() != RUNTIME_SHA256:
        raise WineError(f"{wheel.name} is not the file that was looked at")
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            folder, _, file = name.rpartition("/")
            if folder == "deploy_libs" and not file.startswith(
                ("api-ms-", "tcl", "tk", "_tkinter")
            ):
                (python / file).write_bytes(archive.read(name))
    wheel.unlink()


def _compile_program(python: Path) -> None:
    definitions = python / "python311.def"
    definitions.write_text("LIBRARY python311.dll\nEXPORTS\nPy_Main\n")
    library = python / "libpython311.a"
    subprocess.run([DLLTOOL, "-d", str(definitions), "-l", str(library)], check=True)
    program = str(python / "python.exe")
    subprocess.run(
        [COMPILER, "-municode", "-o", program, str(HERE / "python.c"), str(library)], check=True
    )


def _make_prefix(home: Path) -> None:
    # No display is needed to make one; what needs one is told so when it runs.
    running = environment(home, "")
    # Screens are what Xinerama says: RandR knows one alone, whatever an X server without any has.
    # Nobody else draws the frames of windows.
    display_settings = {"UseXRandR": "N", "Decorated": "N"}
    key = "HKCU\\Software\\Wine\\X11 Driver"
    programs = [
        ["wineboot", "--init"],
        *(["reg", "add", key, "/v", each, "/d", value] for each, value in display_settings.items()),
    ]
    for program in (*([WINE, *each] for each in programs), [WINESERVER, "--wait"]):
        subprocess.run(
            program,
            env=running,
            check=True,
            timeout=300,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    system = home / "prefix" / "drive_c" / "windows" / "system32"
    subprocess.run(
        [
            *(COMPILER, "-shared", "-o", str(system / "bcryptprimitives.dll")),
            *(str(HERE / "process_prng.c"), "-ladvapi32"),
        ],
        check=True,
    )
