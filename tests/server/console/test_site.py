from pathlib import Path

from server.console.site import Site


def built(directory: Path) -> Path:
    """A site with files of every kind."""
    (directory / "guide").mkdir(parents=True)
    (directory / "index.html").write_text("<h1>First</h1>")
    (directory / "guide" / "demo.html").write_text("<h1>Demo</h1>")
    (directory / "guide" / "agent.py").write_text("print()")
    (directory / "site.css").write_text("")
    (directory / "picture.png").write_bytes(b"\x89PNG")
    (directory / "bundle.js").write_text("run()")
    return directory


def test_files_are_found_by_their_paths(tmp_path: Path) -> None:
    site = Site(built(tmp_path / "site"))
    assert site.is_installed
    types = {
        "index.html": "text/html; charset=utf-8",
        "guide/demo.html": "text/html; charset=utf-8",
        "guide/agent.py": "text/plain; charset=utf-8",
        "site.css": "text/css; charset=utf-8",
        "picture.png": "image/png",
    }
    for path, media_type in types.items():
        asset = site.find(path)
        assert asset is not None, path
        assert asset.content == (tmp_path / "site" / path).read_bytes()
        assert asset.media_type == media_type


def test_nothing_else_is_served(tmp_path: Path) -> None:
    (tmp_path / "secret.html").write_text("")
    site = Site(built(tmp_path / "site"))
    for path in ("bundle.js", "guide", "", "../secret.html", "/index.html", "guide/../index.html"):
        assert site.find(path) is None, path


def test_without_a_directory_there_is_nothing() -> None:
    site = Site(None)
    assert not site.is_installed
    assert site.find("index.html") is None
