import json
import re
from pathlib import Path

import pytest

from server.console import assets
from server.console.assets import CONSOLE_PAGE, Asset, Assets
from server.web import reference
from server.web.openapi import openapi_document
from server.web.reference.page import reference_page

STATIC = Path(assets.__file__).parent / "static"
TEMPLATES = Path(reference.__path__[0])
ROOM = 226 * 1024
"""What all pages for browsers may have together."""


def texts(*suffixes: str) -> dict[str, str]:
    """The console's files of these kinds; the templates of the page about the API are pages too."""
    files = (*STATIC.iterdir(), *TEMPLATES.glob("*.html"))
    return {file.name: file.read_text() for file in files if file.suffix[1:] in suffixes}


def test_all_pages_are_small() -> None:
    assert 10_000 < sum(file.stat().st_size for file in STATIC.iterdir()) < ROOM


def test_pages_name_only_files_that_are_there_and_all_scripts() -> None:
    console = Assets()
    assert set(console.pages) == {"index.html", "home.html"}
    of_api = reference_page(json.dumps(openapi_document((), "0.0.0")).encode(), console.version)
    pages = "".join(page.content.decode() for page in (*console.pages.values(), of_api))
    named = re.findall(r'static/([0-9a-f]{16})/([\w.]+)"', pages)
    assert {version for version, _ in named} == {console.version}
    assert all(console.find(name) for _, name in named)
    assert {name for _, name in named if name.endswith(".js")} == set(texts("js"))


def test_scripts_import_only_files_that_are_there() -> None:
    console = Assets()
    for name, text in texts("js").items():
        for imported in re.findall(r'from "(.*?)"', text):
            assert imported.startswith("./"), f"{name} imports {imported}"
            assert console.find(imported.removeprefix("./")), f"{name} imports {imported}"


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
