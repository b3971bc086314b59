import hashlib
import json
import re
from os.path import normpath
from pathlib import Path

import pytest

from server.console import assets
from server.console.assets import CONSOLE_PAGE, Asset, Assets
from server.web import reference
from server.web.openapi import openapi_document
from server.web.reference.page import reference_page

STATIC = Path(assets.__file__).parent / "static"
TEMPLATES = Path(reference.__path__[0])
ROOM = 530 * 1024
"""What all pages for browsers may have together."""


VENDORED = "vendor/"
"""Files of others, which are as they were published."""


def texts(*suffixes: str) -> dict[str, str]:
    """The project's own files by their paths, with the templates of the page about the API."""
    paths = {file.relative_to(STATIC).as_posix(): file for file in STATIC.rglob("*.*")}
    paths |= {file.name: file for file in TEMPLATES.glob("*.html")}
    return {
        path: file.read_text()
        for path, file in paths.items()
        if file.suffix[1:] in suffixes and not path.startswith(VENDORED)
    }


def test_all_pages_are_small() -> None:
    sent = [file for file in STATIC.rglob("*.*") if file.suffix[1:] in assets.MEDIA_TYPES]
    assert 10_000 < sum(file.stat().st_size for file in sent) < ROOM


def test_files_of_others_are_those_that_are_named_with_their_licences() -> None:
    vendor = STATIC / "vendor"
    row = re.compile(r"^\| (\w+\.js) \|.*\| (\w{64}) \|.*(LICENSE-\w+)", re.MULTILINE)
    table = row.findall((vendor / "README.md").read_text())
    assert {name for name, _, _ in table} == {file.name for file in vendor.glob("*.js")}
    for name, digest, licence in table:
        assert hashlib.sha256((vendor / name).read_bytes()).hexdigest() == digest, name
        assert "Copyright" in (vendor / licence).read_text()


def test_pages_name_only_files_that_are_there_and_all_scripts() -> None:
    console = Assets()
    assert set(console.pages) == {"index.html", "home.html"}
    of_api = reference_page(json.dumps(openapi_document((), "0.0.0")).encode(), console.version)
    pages = "".join(page.content.decode() for page in (*console.pages.values(), of_api))
    named = re.findall(r'static/([0-9a-f]{16})/([\w./]+)"', pages)
    assert {version for version, _ in named} == {console.version}
    assert all(console.find(name) for _, name in named)
    scripts = {path for _, path in named if path.endswith(".js")}
    assert {path for path in scripts if not path.startswith(VENDORED)} == set(texts("js"))


def test_scripts_import_only_files_that_are_there() -> None:
    console = Assets()
    for path, text in texts("js").items():
        for imported in re.findall(r'from "(.*?)"', text):
            assert imported.startswith("."), f"{path} imports {imported}"
            assert console.find(normpath(f"{path}/../{imported}")), f"{path} imports {imported}"


@pytest.mark.parametrize(
    "hazard",
    [
        *("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser"),
        *("eval(", "new Function", "createContextualFragment", "setHTML", "localStorage"),
    ],
)
def test_scripts_parse_no_markup_run_no_text_and_keep_nothing(hazard: str) -> None:
    assert not [name for name, text in texts("js").items() if hazard in text]


def test_pages_have_no_script_and_no_style_inside() -> None:
    for page in texts("html").values():
        assert "<style" not in page
        assert not re.search(r"\son\w+=|\sstyle=|<script(?![^>]*\ssrc=)", page)


def test_nothing_is_loaded_from_elsewhere() -> None:
    for name, text in texts("html", "css", "js", "svg").items():
        addresses = set(re.findall(r"https?://[^\"'\s]+", text))
        assert addresses <= {"http://www.w3.org/2000/svg"}, name


def test_tag_and_version_change_with_the_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Asset(b"a", "text/css").tag != Asset(b"b", "text/css").tag
    directory = tmp_path / "static"
    directory.mkdir()
    (directory / "index.html").write_text("{version}")
    monkeypatch.setattr(assets, "files", lambda package: tmp_path)
    versions = set()
    for content in ("a", "b", "a"):
        (directory / "app.js").write_text(content)
        console = Assets()
        assert console.pages[CONSOLE_PAGE].content == console.version.encode()
        versions.add(console.version)
    assert len(versions) == 2


def test_unknown_file_is_none() -> None:
    assert Assets().find("../assets.py") is None
    assert Assets().find("index.html") is None
