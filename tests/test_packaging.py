"""The wheels and source archives, and that either of Farhand and of its client is all of it."""

import http.client
import json
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from server.console.assets import MEDIA_TYPES, Assets
from tests.processes import environment, free_port, running

PROJECT = Path(__file__).parent.parent
PACKAGES = ("machine_client", "schemas", "server")
TYPES = ("server/console/tsconfig.json", "server/console/types/")
"""What `make lint` reads in a package, and no program."""
LEFTOVERS = (
    *("machine-token", "server.log", "demo.png", "notes/plan.txt", ".venv/bin/farhand"),
    ".ci/javascript/node_modules/typescript/package.json",
    *("server/__pycache__/app.cpython-311.pyc", "dist/farhand-0.0.9.tar.gz", ".mypy_cache/x.json"),
)
"""What a clone has in it after some work."""

# What is built and installed is so within the first test's time.
pytestmark = pytest.mark.timeout(600)


def called(*command: str | Path, directory: Path) -> str:
    """What a program prints that must succeed, started in a directory."""
    ended = subprocess.run(
        command,
        cwd=directory,
        env=environment(PYTHONDONTWRITEBYTECODE="1"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert ended.returncode == 0, f"{command}: {ended.stdout}{ended.stderr}"
    return ended.stdout


@dataclass(frozen=True)
class Built:
    """The archives, and the files of the project that they are of."""

    tracked: frozenset[str]
    wheel: Path
    sdist: Path
    client_wheel: Path
    client_sdist: Path

    @property
    def of_the_client(self) -> set[str]:
        """The files of its package, by their names in it."""
        return {
            name.removeprefix("client/")
            for name in self.tracked
            if name.startswith("client/farhand/")
        }


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Built in a clone that has been worked in."""
    directory = tmp_path_factory.mktemp("built")
    clone = directory / "clone"
    listed = called("git", "ls-files", "-z", directory=PROJECT).split("\0")
    tracked = frozenset(name for name in listed if name and (PROJECT / name).is_file())
    for name in tracked:
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / name, clone / name)
    for name in LEFTOVERS:
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).write_text("left over")
    archives = []
    for project in (clone, clone / "client"):
        out = directory / "out" / project.name
        called(sys.executable, "-m", "hatchling", "build", "--directory", out, directory=project)
        archives += [*out.glob("*.whl"), *out.glob("*.tar.gz")]
    return Built(tracked, *archives)


def test_source_archive_has_every_file_and_no_leftovers(built: Built) -> None:
    with tarfile.open(built.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert names - {"PKG-INFO"} == built.tracked


def test_archives_of_the_client_have_it_and_nothing_else(built: Built) -> None:
    wheel = zipfile.ZipFile(built.client_wheel)
    names = set(wheel.namelist())
    about = {name for name in names if re.match(r"farhand_client-[\d.]+\.dist-info/", name)}
    assert names - about == built.of_the_client
    assert "farhand/py.typed" in names
    assert {name.rpartition("/")[2] for name in about} >= {"LICENSE", "METADATA"}
    (metadata,) = (wheel.read(name).decode() for name in about if name.endswith("/METADATA"))
    needed = re.findall(r"^Requires-Dist: (\w+)[^;\n]*$", metadata, re.MULTILINE)
    assert needed == ["httpx", "pydantic"]
    with tarfile.open(built.client_sdist) as archive:
        sources = {name.partition("/")[2] for name in archive.getnames()}
    others = {"LICENSE", "README.md", "pyproject.toml", "PKG-INFO", ".gitignore"}
    assert sources - others == built.of_the_client


def test_wheel_has_the_packages_and_nothing_else(built: Built) -> None:
    names = set(zipfile.ZipFile(built.wheel).namelist())
    of_packages = {name for name in built.tracked if name.partition("/")[0] in PACKAGES}
    assert {name for name in of_packages if name.startswith(TYPES)}
    of_packages = {name for name in of_packages if not name.startswith(TYPES)}
    about = {name for name in names if re.match(r"farhand-[\d.]+\.dist-info/", name)}
    assert names - about == of_packages
    assert {name.rpartition("/")[2] for name in about} >= {
        "LICENSE",
        "METADATA",
        "entry_points.txt",
    }


@dataclass(frozen=True)
class Installed:
    """An environment with nothing of Farhand but what archives brought."""

    directory: Path

    def program(self, name: str) -> Path:
        return self.directory / "bin" / name

    def says(self, name: str, *arguments: str) -> str:
        """What a program of the environment prints."""
        return called(self.program(name), *arguments, directory=self.directory)


@pytest.fixture(scope="module", params=["wheel", "sdist"])
def installed(
    request: pytest.FixtureRequest, built: Built, tmp_path_factory: pytest.TempPathFactory
) -> Installed:
    archives = {
        "wheel": [built.wheel, built.client_wheel],
        "sdist": [built.sdist, built.client_sdist],
    }
    return install(tmp_path_factory.mktemp("installed"), archives[request.param])


def install(directory: Path, archives: list[Path]) -> Installed:
    """A new environment, with what is in the archives."""
    pip = (sys.executable, "-m", "pip")
    alone = ("--no-index", "--no-deps", "--quiet", "--disable-pip-version-check")
    if archives[0].suffix != ".whl":
        # With the build backend that is here, instead of another download of it.
        options = (*alone, "--no-build-isolation", "--wheel-dir", directory)
        called(*pip, "wheel", *options, *archives, directory=directory)
        archives = [*directory.glob("*.whl")]
    fresh = Installed(directory / "environment")
    venv.create(fresh.directory)
    into = ("--python", fresh.program("python"))
    called(*pip, *into, "install", *alone, *archives, directory=directory)
    # What Farhand needs is here already.  Files of this kind are not read in a directory that one
    # of them names, so the clone, which one here names, is not seen.
    packages = fresh.says("python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
    there = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (Path(packages.strip()) / "tests.pth").write_text("\n".join(sorted(there)) + "\n")
    return fresh


def test_farhand_comes_from_the_archive_alone(installed: Installed) -> None:
    script = (
        "import json, sys; print(json.dumps([__import__(name).__file__ for name in sys.argv[1:]]))"
    )
    packages = (*PACKAGES, "farhand")
    files = json.loads(installed.says("python", "-c", script, *packages))
    assert len(files) == len(packages)
    for file in files:
        assert Path(file).is_relative_to(installed.directory)


def test_client_is_enough_for_programs(built: Built, tmp_path: Path) -> None:
    client = install(tmp_path, [built.client_wheel])
    script = """
import sys
import farhand
farhand.Farhand("http://127.0.0.1:8600", "fh_t").machine("reception")
ours = {name.partition(".")[0] for name in sys.modules} & {"farhand", "schemas", "server"}
print(farhand.__version__, farhand.__file__, *ours)
"""
    version, file, *ours = client.says("python", "-c", script).split()
    assert version == version_of(PROJECT / "client")
    assert Path(file).is_relative_to(tmp_path)
    assert ours == ["farhand"]


def version_of(project: Path) -> str:
    found: str = tomllib.loads((project / "pyproject.toml").read_text())["project"]["version"]
    return found


def test_server_wants_the_client_of_its_version() -> None:
    extras = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    version = version_of(PROJECT)
    assert version_of(PROJECT / "client") == version
    assert f"farhand-client=={version}" in extras["optional-dependencies"]["server"]


def test_programs_run(installed: Installed) -> None:
    said = installed.says("farhand", "--version").strip()
    assert said.endswith(f" {version_of(PROJECT)}")
    assert "  serve " in installed.says("farhand", "--help")
    assert "  join " in installed.says("farhand-machine", "--help")
    assert "  --server " in installed.says("farhand-machine", "join", "--help")
    samples = "from server.demo.library import samples; print(len(samples()))"
    assert int(installed.says("python", "-c", samples)) > 0


@pytest.fixture(scope="module")
def served(
    installed: Installed, mongodb: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The address of a server that runs in the environment."""
    directory = tmp_path_factory.mktemp("served")
    variables = {
        "FARHAND_MONGODB_URI": mongodb,
        "FARHAND_MONGODB_DATABASE": f"packaged_{installed.directory.parent.name}",
    }
    port = free_port()
    command = ("serve", "--port", str(port), "--data-dir", str(directory / "data"))
    program = str(installed.program("farhand"))
    with running(directory / "log", variables, program, *command) as server:
        server.says("listening on")
        yield f"http://127.0.0.1:{port}"


def get(address: str) -> bytes:
    """What a browser gets there."""
    parts = urlsplit(address)
    with closing(http.client.HTTPConnection(parts.netloc, timeout=30)) as connection:
        connection.request("GET", parts.path, headers={"Accept": "text/html"})
        answer = connection.getresponse()
        assert answer.status == 200, address
        return answer.read()


def test_pages_and_their_files_are_served(served: str) -> None:
    ours = Assets()
    pages = {"/": "home.html", "/console/": "index.html"}
    for address, name in pages.items():
        assert get(served + address) == ours.pages[name].content
    static = PROJECT / "server" / "console" / "static"
    for file in static.rglob("*.*"):
        if file.suffix[1:] in MEDIA_TYPES and file.suffix != ".html":
            address = f"{served}/console/static/{ours.version}/{file.relative_to(static)}"
            assert get(address) == file.read_bytes()
    assert b'<section class="model" id="model-Machine">' in get(f"{served}/docs")
    assert b"try again after Retry-After seconds" in get(f"{served}/problems/machine-unavailable")
    assert json.loads(get(f"{served}/openapi.json"))["openapi"].startswith("3.1")
