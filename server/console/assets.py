"""The files of the pages for browsers, read once and sent as they are.

They are served under an address with their version in it, so that a browser may keep them for good
and still never mixes two versions; the pages themselves are asked for anew each time.
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import as_file, files

CONSOLE_PAGE = "index.html"
HOME_PAGE = "home.html"

MEDIA_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}

_VERSION_MARK = b"{version}"


@dataclass(frozen=True)
class Asset:
    """One file: what is in it, what it is, and a tag that changes with it."""

    content: bytes
    media_type: str

    @cached_property
    def tag(self) -> str:
        """The file's strong ETag."""
        return f'"{hashlib.sha256(self.content).hexdigest()[:32]}"'


class Assets:
    """All files of the console and of the pages about the API."""

    def __init__(self) -> None:
        with as_file(files("server.console").joinpath("static")) as directory:
            contents = {
                file.relative_to(directory).as_posix(): file.read_bytes()
                for file in directory.rglob("*.*")
                if file.suffix[1:] in MEDIA_TYPES
            }
        pages = {name: contents.pop(name) for name in list(contents) if name.endswith(".html")}
        self._assets = {
            path: Asset(content, MEDIA_TYPES[path.rpartition(".")[2]])
            for path, content in contents.items()
        }
        digest = hashlib.sha256()
        for path, asset in sorted(self._assets.items()):
            digest.update(f"{path} {asset.tag}\n".encode())
        self.version = digest.hexdigest()[:16]
        """Of all files together; it is a part of their addresses."""
        self.pages = {name: self._page(content) for name, content in pages.items()}
        """What is asked for by an address of its own, by the file's name."""

    def _page(self, content: bytes) -> Asset:
        return Asset(content.replace(_VERSION_MARK, self.version.encode()), MEDIA_TYPES["html"])

    def find(self, path: str) -> Asset | None:
        """The file at that path, such as ``control/keys.js``, or None."""
        return self._assets.get(path)
