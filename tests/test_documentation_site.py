"""The documentation as a site, built as ``make docs`` does, and what its pages lead to."""

import html
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from math import ceil
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml

from tests.markdown import anchor, headings, links

PROJECT = Path(__file__).parent.parent
DOCS = PROJECT / "docs"
CONFIG = PROJECT / "config" / "mkdocs.yml"

MOST_LINES, LINE = 2 * 45, 120
"""Two screens of a page, as it is written."""

ROOMS = (".ci", "benchmarks", "config", "docs", "machine_client", "schemas", "server", "tests")


def build(site: Path, config: Path = CONFIG) -> subprocess.CompletedProcess[str]:
    """What ``make docs`` does, into another directory."""
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--config-file", config, "--site-dir", site],
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("site")
    built = build(directory)
    assert built.returncode == 0, built.stderr
    assert "WARNING" not in built.stderr
    return directory


def pages(site: Path) -> list[Path]:
    """All pages but the one for what is not there, whose addresses begin at the root."""
    return [page for page in sorted(site.rglob("*.html")) if page.name != "404.html"]


def addresses(page: Path) -> Iterator[str]:
    """Whatever a page loads, or leads to."""
    for found in re.findall(
        r'\s(?:href|src|srcset|action|poster|data)="([^"]*)"', page.read_text()
    ):
        yield html.unescape(found)


def test_pages_name_no_other_host(site: Path) -> None:
    assert len(pages(site)) > 30
    for page in (*pages(site), site / "404.html"):
        for address in addresses(page):
            assert not urlsplit(address).netloc, f"{page.name} names {address}"
            assert urlsplit(address).scheme in ("", "data"), f"{page.name} names {address}"


def test_style_sheets_load_nothing_from_elsewhere(site: Path) -> None:
    sheets = list(site.rglob("*.css"))
    assert sheets
    for sheet in sheets:
        loaded = re.findall(r"url\(\s*[\"']?([^\"')]*)|@import\s+[\"']([^\"']*)", sheet.read_text())
        for address in filter(None, (part for found in loaded for part in found)):
            assert address.startswith("data:") or not urlsplit(address).netloc, address


def test_everything_that_pages_load_or_lead_to_is_there(site: Path) -> None:
    for page in pages(site):
        for address in addresses(page):
            parts = urlsplit(address)
            if parts.scheme == "data":
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            assert target.is_file(), f"{page.relative_to(site)} leads to {address}"
            if parts.fragment and target.suffix == ".html":
                assert f'id="{parts.fragment}"' in target.read_text(), f"{page.name}: {address}"


def test_link_that_leads_nowhere_ends_the_build(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    settings = CONFIG.read_text().split("\nnav:")[0]
    file = tmp_path / "mkdocs.yml"
    file.write_text(settings.replace("../docs", str(docs)))
    (docs / "site.css").write_text("")
    for wrong in ("[a page](nowhere.md)", "[a part](#nowhere)", "![a picture](nowhere.png)"):
        (docs / "index.md").write_text(f"# A page\n\n{wrong}\n")
        built = build(tmp_path / "site", file)
        assert built.returncode != 0, wrong
        assert "nowhere" in built.stderr, wrong
    (docs / "index.md").write_text("# A page\n")
    assert build(tmp_path / "site", file).returncode == 0


def test_menu_has_every_page_once() -> None:
    def named(entry: object) -> Iterator[str]:
        if isinstance(entry, str):
            yield entry
        elif isinstance(entry, list):
            for each in entry:
                yield from named(each)
        elif isinstance(entry, dict):
            yield from named(list(entry.values()))

    settings = yaml.safe_load(CONFIG.read_text())
    assert sorted(named(settings["nav"])) == sorted(
        page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")
    )


def test_titles_are_each_a_pages_own() -> None:
    titles = [headings(page.read_text())[0] for page in DOCS.rglob("*.md")]
    assert len(titles) == len(set(titles))


@pytest.mark.parametrize("page", sorted((DOCS / "guide").glob("*.md")), ids=lambda page: page.stem)
def test_pages_of_the_guide_have_two_screens_at_most(page: Path) -> None:
    lines = page.read_text().splitlines()
    assert sum(max(1, ceil(len(line) / LINE)) for line in lines) <= MOST_LINES


def test_every_picture_is_shown_by_a_page() -> None:
    shown = {
        (page.parent / link).resolve()
        for page in (*DOCS.rglob("*.md"), PROJECT / "README.md")
        for link in links(page.read_text())
        if link.endswith(".png")
    }
    assert set((DOCS / "images").iterdir()) == shown


def test_links_work_in_the_repository_too() -> None:
    for page in (*DOCS.rglob("*.md"), *PROJECT.glob("*.md")):
        for link in links(page.read_text()):
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = page.parent / parts.path if parts.path else page
            assert target.exists(), f"{page.name} leads to {link}"
            if parts.fragment:
                there = {anchor(heading) for heading in headings(target.read_text())}
                assert parts.fragment in there, f"{page.name} leads to {link}"


def is_source(file: Path) -> bool:
    """Whether somebody wrote it: what Python has compiled may be of yesterday, or come and go."""
    return file.is_file() and "__pycache__" not in file.parts


def test_no_file_names_a_page_that_is_not_there() -> None:
    files = [
        *(file for room in ROOMS for file in (PROJECT / room).rglob("*") if is_source(file)),
        *(PROJECT / name for name in ("CHANGELOG.md", "CONTRIBUTING.md", "Makefile", "README.md")),
    ]
    assert len(files) > 1000
    for file in files:
        text = file.read_bytes().decode(errors="ignore")
        for page in re.findall(r"(?<![\w/.-])docs/[\w/-]+\.(?:md|png|py)\b", text):
            assert (PROJECT / page).is_file(), f"{file.relative_to(PROJECT)} names {page}"
